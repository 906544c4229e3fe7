// Package rpc calls and serves the methods of the schema over Connect, gRPC and gRPC-Web.
//
// Connect's clients and handlers are generic over the Go types of requests and responses,
// and Go compiles them for each pair of types. This package uses one type for all messages,
// so that they are compiled only once. The method's descriptor determines the actual
// message type at run time. The wire format is not affected.
package rpc

import (
	"fmt"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// box contains any message. Codecs read and write the message inside, because they only use
// its ProtoReflect.
type box struct {
	proto.Message
}

// Reset resets the message inside. Without this method, protobuf would clear each field.
func (b *box) Reset() { proto.Reset(b.Message) }

// Message returns the message in the Any of a request or response that an interceptor has
// received. It also accepts a message from a stream. It returns nil if seen contains no
// message.
func Message(seen any) proto.Message {
	if boxed, ok := seen.(*box); ok {
		return boxed.Message
	}
	message, _ := seen.(proto.Message)
	return message
}

// emptyRequest sets an empty request of the method.
func emptyRequest(spec connect.Spec, into any) error {
	return fill(into, spec.Schema.(protoreflect.MethodDescriptor).Input())
}

// emptyAnswer sets an empty response of the method.
func emptyAnswer(spec connect.Spec, into any) error {
	return fill(into, spec.Schema.(protoreflect.MethodDescriptor).Output())
}

func fill(into any, descriptor protoreflect.MessageDescriptor) error {
	found, err := protoregistry.GlobalTypes.FindMessageByName(descriptor.FullName())
	if err != nil {
		return fmt.Errorf("the Go type of %s: %w", descriptor.FullName(), err)
	}
	into.(*box).Message = found.New().Interface()
	return nil
}

// Procedure returns the URL path of a method.
func Procedure(method protoreflect.MethodDescriptor) string {
	return "/" + string(method.Parent().FullName()) + "/" + string(method.Name())
}
