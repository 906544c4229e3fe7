package rpc

import (
	"context"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// NewHandler returns a handler that serves a unary method with call.
func NewHandler(method protoreflect.MethodDescriptor, call func(context.Context, proto.Message) (proto.Message, error), options ...connect.HandlerOption) *connect.Handler {
	return connect.NewUnaryHandler(Procedure(method), func(ctx context.Context, request *connect.Request[box]) (*connect.Response[box], error) {
		answer, err := call(ctx, request.Msg.Message)
		if err != nil {
			return nil, err
		}
		return connect.NewResponse(&box{answer}), nil
	}, connect.WithSchema(method), connect.WithHandlerOptions(options...), connect.WithRequestInitializer(emptyRequest))
}

// NewStreamHandler returns a handler that serves a server-streaming method with stream,
// which calls send for each message. If its first call to send passes nil, only the headers
// are sent. This serves clients that may wait a long time for the first message.
func NewStreamHandler(method protoreflect.MethodDescriptor, stream func(ctx context.Context, request proto.Message, send func(proto.Message) error) error, options ...connect.HandlerOption) *connect.Handler {
	return connect.NewServerStreamHandler(Procedure(method), func(ctx context.Context, request *connect.Request[box], answers *connect.ServerStream[box]) error {
		return stream(ctx, request.Msg.Message, func(answer proto.Message) error {
			if answer == nil {
				return answers.Send(nil)
			}
			return answers.Send(&box{answer})
		})
	}, connect.WithSchema(method), connect.WithHandlerOptions(options...), connect.WithRequestInitializer(emptyRequest))
}
