// Package rpc calls and serves the methods of the schema over Connect, gRPC and gRPC-Web.
//
// Connect's clients and handlers are generic over the Go types of a request and an answer,
// and Go compiles them anew for each pair. Here one type stands for all messages, so that
// they are compiled once and not for each method. Which message it stands for is decided
// by the method's descriptor, at run time. Nothing of that is seen on the wire.
package rpc

import (
	"fmt"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// box holds any message. Codecs read and write the message inside, because they ask only
// for its ProtoReflect.
type box struct {
	proto.Message
}

// Reset empties the message inside. Without it protobuf would clear field by field.
func (b *box) Reset() { proto.Reset(b.Message) }

// Message returns the message that an interceptor sees as the Any of a request or an
// answer, or that passes through a stream. It returns nil if there is none.
func Message(seen any) proto.Message {
	if boxed, ok := seen.(*box); ok {
		return boxed.Message
	}
	message, _ := seen.(proto.Message)
	return message
}

// emptyRequest puts an empty request of the method into a box.
func emptyRequest(spec connect.Spec, into any) error {
	return fill(into, spec.Schema.(protoreflect.MethodDescriptor).Input())
}

// emptyAnswer puts an empty answer of the method into a box.
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

// Procedure is the path at which a method is served.
func Procedure(method protoreflect.MethodDescriptor) string {
	return "/" + string(method.Parent().FullName()) + "/" + string(method.Name())
}
