package rpc

import (
	"context"
	"net/http"
	"strings"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// A Client calls the methods of a service. Generated code wraps it with typed methods.
type Client struct {
	methods map[protoreflect.Name]*connect.Client[box, box]
}

// NewClient returns a client for the service at baseURL.
func NewClient(web connect.HTTPClient, baseURL string, service protoreflect.ServiceDescriptor, options ...connect.ClientOption) *Client {
	baseURL = strings.TrimRight(baseURL, "/")
	methods := service.Methods()
	client := &Client{methods: make(map[protoreflect.Name]*connect.Client[box, box], methods.Len())}
	for i := range methods.Len() {
		method := methods.Get(i)
		client.methods[method.Name()] = connect.NewClient[box, box](web, baseURL+Procedure(method),
			connect.WithSchema(method), connect.WithClientOptions(options...), connect.WithResponseInitializer(emptyAnswer))
	}
	return client
}

// Call calls a unary method. Its error is a *connect.Error. It panics if the service has no
// such method or the method has a different response type.
func Call[Answer proto.Message](ctx context.Context, client *Client, method protoreflect.Name, request proto.Message) (Answer, error) {
	response, err := client.methods[method].CallUnary(ctx, connect.NewRequest(&box{request}))
	if err != nil {
		var none Answer
		return none, err
	}
	return response.Msg.Message.(Answer), nil
}

// Watch calls a server-streaming method. It panics under the same conditions as Call.
func Watch[Answer proto.Message](ctx context.Context, client *Client, method protoreflect.Name, request proto.Message) (*Stream[Answer], error) {
	answers, err := client.methods[method].CallServerStream(ctx, connect.NewRequest(&box{request}))
	if err != nil {
		return nil, err
	}
	return &Stream[Answer]{answers}, nil
}

// A Stream receives the responses of a server-streaming method.
//
//	for stream.Receive() {
//		use(stream.Msg())
//	}
//	err := errors.Join(stream.Err(), stream.Close())
//
// It is not safe for concurrent use.
type Stream[Answer proto.Message] struct {
	answers *connect.ServerStreamForClient[box]
}

// Receive waits for the next response. It returns false at the end of the stream.
func (s *Stream[Answer]) Receive() bool { return s.answers.Receive() }

// Msg returns the response that the last call to Receive has read. The stream does not reuse
// the message.
func (s *Stream[Answer]) Msg() Answer {
	answer, _ := s.answers.Msg().Message.(Answer) // nil before the first response
	return answer
}

// Err returns the error that ended the stream, or nil if the server ended it normally.
func (s *Stream[Answer]) Err() error { return s.answers.Err() }

// ResponseHeader waits for the stream's headers and returns them.
func (s *Stream[Answer]) ResponseHeader() http.Header { return s.answers.ResponseHeader() }

// ResponseTrailer returns the stream's trailers. They are available after Receive has
// returned false.
func (s *Stream[Answer]) ResponseTrailer() http.Header { return s.answers.ResponseTrailer() }

// Close closes the stream.
func (s *Stream[Answer]) Close() error { return s.answers.Close() }
