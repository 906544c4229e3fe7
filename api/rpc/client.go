package rpc

import (
	"context"
	"net/http"
	"strings"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Client calls the methods of a service. Generated code gives them their types.
type Client struct {
	methods map[protoreflect.Name]*connect.Client[box, box]
}

// NewClient makes a client of the service below a base URL.
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

// Call calls a method that answers once. Its error is a *connect.Error. It panics if the
// service has no such method, or if that answers with another message.
func Call[Answer proto.Message](ctx context.Context, client *Client, method protoreflect.Name, request proto.Message) (Answer, error) {
	response, err := client.methods[method].CallUnary(ctx, connect.NewRequest(&box{request}))
	if err != nil {
		var none Answer
		return none, err
	}
	return response.Msg.Message.(Answer), nil
}

// Watch calls a method that answers again and again. It panics as Call does.
func Watch[Answer proto.Message](ctx context.Context, client *Client, method protoreflect.Name, request proto.Message) (*Stream[Answer], error) {
	answers, err := client.methods[method].CallServerStream(ctx, connect.NewRequest(&box{request}))
	if err != nil {
		return nil, err
	}
	return &Stream[Answer]{answers}, nil
}

// Stream is the answers of a method that answers again and again.
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

// Receive waits for the next answer. It reports false when there is none any more.
func (s *Stream[Answer]) Receive() bool { return s.answers.Receive() }

// Msg is the answer that Receive waited for. The stream does not touch it again.
func (s *Stream[Answer]) Msg() Answer {
	answer, _ := s.answers.Msg().Message.(Answer) // there is none before the first
	return answer
}

// Err is why Receive reported false; nil if the server ended the stream.
func (s *Stream[Answer]) Err() error { return s.answers.Err() }

// ResponseHeader returns the headers of the stream. It waits for them.
func (s *Stream[Answer]) ResponseHeader() http.Header { return s.answers.ResponseHeader() }

// ResponseTrailer returns the trailers. There are none before Receive has reported false.
func (s *Stream[Answer]) ResponseTrailer() http.Header { return s.answers.ResponseTrailer() }

// Close ends the stream.
func (s *Stream[Answer]) Close() error { return s.answers.Close() }
