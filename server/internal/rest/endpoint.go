package rest

import (
	"context"
	"fmt"
	"reflect"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// Endpoint is an API method with its implementation.
type Endpoint struct {
	Method protoreflect.MethodDescriptor
	Access *fairleadv1.Access
	// Request returns an empty request.
	Request func() proto.Message
	// Call handles a request. It is nil if Stream is set.
	Call func(ctx context.Context, request proto.Message) (proto.Message, error)
	// Stream handles a request and calls send for each response.
	Stream func(ctx context.Context, request proto.Message, send func(proto.Message) error) error
}

var (
	contextType = reflect.TypeFor[context.Context]()
	errorType   = reflect.TypeFor[error]()
	messageType = reflect.TypeFor[proto.Message]()
)

// Endpoints returns a service's endpoints. It finds the Go method that implements each API
// method by its name. The Go method takes a context and a request. It either returns a
// response and an error, or takes a function that sends responses and returns an error.
// Endpoints fails if a method is missing or has a different signature.
func Endpoints(service protoreflect.ServiceDescriptor, implementation any) ([]*Endpoint, error) {
	var endpoints []*Endpoint
	for i := range service.Methods().Len() {
		method := service.Methods().Get(i)
		endpoint, err := newEndpoint(method, reflect.ValueOf(implementation).MethodByName(string(method.Name())))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", method.FullName(), err)
		}
		endpoints = append(endpoints, endpoint)
	}
	return endpoints, nil
}

func newEndpoint(method protoreflect.MethodDescriptor, function reflect.Value) (*Endpoint, error) {
	access, declared := proto.GetExtension(method.Options(), fairleadv1.E_Access).(*fairleadv1.Access)
	if !declared || access == nil {
		return nil, fmt.Errorf("the method has no access rule")
	}
	if !function.IsValid() {
		return nil, fmt.Errorf("no service implements the method")
	}
	e := &Endpoint{Method: method, Access: access}
	t := function.Type()
	if t.NumIn() < 2 || t.In(0) != contextType || !t.In(1).Implements(messageType) || t.NumOut() == 0 || t.Out(t.NumOut()-1) != errorType {
		return nil, fmt.Errorf("the method is implemented with the unexpected signature %s", t)
	}
	request := t.In(1).Elem()
	e.Request = func() proto.Message { return reflect.New(request).Interface().(proto.Message) }
	if method.IsStreamingServer() {
		e.Stream = streaming(function)
	} else {
		e.Call = calling(function)
	}
	return e, nil
}

func calling(function reflect.Value) func(context.Context, proto.Message) (proto.Message, error) {
	return func(ctx context.Context, request proto.Message) (proto.Message, error) {
		out := function.Call([]reflect.Value{reflect.ValueOf(ctx), reflect.ValueOf(request)})
		if err, failed := out[1].Interface().(error); failed {
			return nil, err
		}
		return out[0].Interface().(proto.Message), nil
	}
}

func streaming(function reflect.Value) func(context.Context, proto.Message, func(proto.Message) error) error {
	sender := function.Type().In(2)
	return func(ctx context.Context, request proto.Message, send func(proto.Message) error) error {
		adapted := reflect.MakeFunc(sender, func(args []reflect.Value) []reflect.Value {
			result := reflect.New(errorType).Elem()
			if err := send(args[0].Interface().(proto.Message)); err != nil {
				result.Set(reflect.ValueOf(err))
			}
			return []reflect.Value{result}
		})
		out := function.Call([]reflect.Value{reflect.ValueOf(ctx), reflect.ValueOf(request), adapted})
		err, _ := out[0].Interface().(error)
		return err
	}
}
