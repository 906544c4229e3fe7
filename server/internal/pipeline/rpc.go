package pipeline

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/api/batch_scheduler/batchschedulerconnect"
	"github.com/fairlead-io/fairlead/api/fairlead/v1/fairleadv1connect"
	"github.com/fairlead-io/fairlead/api/rpc"
	"github.com/fairlead-io/fairlead/server/internal/authn"
	"github.com/fairlead-io/fairlead/server/internal/overload"
	"github.com/fairlead-io/fairlead/server/internal/rest"
)

// Register serves the methods of the schema by name.
func Register(mux *http.ServeMux, guard func(http.Handler) http.Handler, checking RPC, endpoints []*rest.Endpoint) {
	checked := connect.WithHandlerOptions(connect.WithInterceptors(checking), connect.WithConditionalHandlerOptions(readBounds), connect.WithCodec(binaryCodec{}), boundedGzip())
	strict := connect.WithHandlerOptions(checked, connect.WithCodec(jsonCodec("json")), connect.WithCodec(jsonCodec("json; charset=utf-8")))
	services := map[protoreflect.FullName]methods{}
	for _, endpoint := range endpoints {
		service := endpoint.Method.Parent().FullName()
		if services[service] == nil {
			services[service] = methods{}
		}
		options := strict
		if service == batchschedulerconnect.BatchSchedulerServiceName {
			options = checked // its JSON uses the standard form of enumerations
		}
		services[service][rpc.Procedure(endpoint.Method)] = rpcHandler(endpoint, options)
	}
	for service, methods := range services {
		mux.Handle("/"+string(service)+"/", guard(checking.Responses.Handler(checking.admitted(methods))))
	}
}

// methods handles requests by path.
type methods map[string]http.Handler

// ServeHTTP handles a request for a method.
func (m methods) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	method, known := m[r.URL.Path]
	if !known {
		http.NotFound(w, r)
		return
	}
	method.ServeHTTP(w, r)
}

func rpcHandler(endpoint *rest.Endpoint, options connect.HandlerOption) http.Handler {
	switch {
	case endpoint.Stream == nil:
		return rpc.NewHandler(endpoint.Method, endpoint.Call, options)
	case rpc.Procedure(endpoint.Method) == fairleadv1connect.WorkerServiceStreamJobsProcedure:
		return rpc.NewStreamHandler(endpoint.Method, headersFirst(endpoint.Stream), options)
	}
	return rpc.NewStreamHandler(endpoint.Method, endpoint.Stream, options)
}

// stream handles a request with a sequence of responses.
type stream = func(ctx context.Context, request proto.Message, send func(proto.Message) error) error

// headersFirst sends the headers of a stream immediately. The stream may send nothing for a
// long time, which must not look like a server that does not respond.
func headersFirst(next stream) stream {
	return func(ctx context.Context, request proto.Message, send func(proto.Message) error) error {
		if err := send(nil); err != nil {
			return err
		}
		return next(ctx, request, send)
	}
}

// RPC passes requests through the pipeline, validates them before they reach their
// service, and converts errors to gRPC codes.
type RPC struct {
	Log       *slog.Logger
	Pipeline  *Pipeline
	Requests  *overload.RequestMemory
	Responses *overload.ResponseMemory
	Endpoints map[string]*rest.Endpoint // by path
}

// Maximum sizes of requests in bytes. The request for a stream stays in memory as long as
// the stream.
const (
	maxStreamRequest = 256 << 10
	maxEnvelope      = 1 << 10 // overhead around a message
)

func readBounds(method connect.Spec) []connect.HandlerOption {
	if method.StreamType == connect.StreamTypeUnary {
		return []connect.HandlerOption{connect.WithReadMaxBytes(rest.MaxBody)}
	}
	return []connect.HandlerOption{connect.WithReadMaxBytes(maxStreamRequest)}
}

// admitted rejects callers based on the path and the headers of the request, before it
// reads the body, and limits the size of other bodies.
func (c RPC) admitted(next http.Handler) http.Handler {
	refuse := connect.NewErrorWriter()
	unary := c.Requests.Handler(rest.MaxBody+maxEnvelope, CodedBodies(next))
	stream := http.MaxBytesHandler(CodedBodies(next), maxStreamRequest+maxEnvelope)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		endpoint, known := c.Endpoints[r.URL.Path]
		if !known {
			http.NotFound(w, r)
			return
		}
		if err := Admit(r.Context(), endpoint); err != nil {
			_ = refuse.Write(w, r, c.coded(connect.Spec{Procedure: r.URL.Path}, err)) // the caller may have disconnected
			return
		}
		if endpoint.Stream != nil {
			stream.ServeHTTP(w, r)
			return
		}
		unary.ServeHTTP(w, r)
	})
}

// CodedBodies adds gRPC codes to errors that prevent reading a body.
func CodedBodies(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		own := *r
		own.Body = codedBody{r.Body}
		next.ServeHTTP(w, &own)
	})
}

type codedBody struct {
	io.ReadCloser
}

// Read reads from the body.
func (b codedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	var own *rest.Error
	if errors.As(err, &own) {
		err = connect.NewError(ownCodes[own.Status], own)
	}
	return n, err
}

// WrapUnary implements connect.Interceptor.
func (c RPC) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
		endpoint, known := c.Endpoints[request.Spec().Procedure]
		message := rpc.Message(request.Any())
		if !known || message == nil {
			return nil, connect.NewError(connect.CodeUnimplemented, errors.New("unknown method"))
		}
		if err := rest.Check(message); err != nil {
			return nil, c.coded(request.Spec(), err)
		}
		var response connect.AnyResponse
		_, err := c.Pipeline.Call(ctx, endpoint, message, func(ctx context.Context, _ proto.Message) (answer proto.Message, err error) {
			if response, err = next(ctx, request); err != nil {
				return nil, err
			}
			return rpc.Message(response.Any()), nil
		})
		return response, c.coded(request.Spec(), err)
	}
}

// WrapStreamingClient implements connect.Interceptor.
func (RPC) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

// WrapStreamingHandler implements connect.Interceptor.
func (c RPC) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, conn connect.StreamingHandlerConn) error {
		endpoint, known := c.Endpoints[conn.Spec().Procedure]
		if !known {
			return connect.NewError(connect.CodeUnimplemented, errors.New("unknown method"))
		}
		if err := Admit(ctx, endpoint); err != nil {
			return c.coded(conn.Spec(), err)
		}
		closed, err := overload.OpenStream(ctx)
		if err != nil {
			return c.coded(conn.Spec(), err)
		}
		defer closed()
		lasting, ended := authn.WhileValid(ctx)
		return c.coded(conn.Spec(), Unavailable(ctx, ended(next(lasting, checkedConn{conn, lasting}))))
	}
}

// checkedConn validates received messages, and stops sending once the caller's credential
// is invalid.
type checkedConn struct {
	connect.StreamingHandlerConn
	lasting context.Context
}

// Send sends the next message.
func (c checkedConn) Send(message any) error {
	if err := authn.StillValid(c.lasting); err != nil {
		return err
	}
	return c.StreamingHandlerConn.Send(message)
}

// Receive reads the next message.
func (c checkedConn) Receive(into any) error {
	if err := c.StreamingHandlerConn.Receive(into); err != nil {
		return err
	}
	return rest.Check(rpc.Message(into))
}

// codes maps errors that callers can distinguish to gRPC codes; the first match counts.
var codes = []struct {
	err  error
	code connect.Code
}{
	{fairlead.ErrInvalid, connect.CodeInvalidArgument},
	{fairlead.ErrNotFound, connect.CodeNotFound},
	{fairlead.ErrConflict, connect.CodeFailedPrecondition},
	{fairlead.ErrLeaseLost, connect.CodeAborted},
	{fairlead.ErrExpired, connect.CodeDeadlineExceeded},
	{fairlead.ErrLimit, connect.CodeResourceExhausted},
}

// ownCodes maps HTTP statuses of errors that do not concern jobs to gRPC codes.
var ownCodes = map[int]connect.Code{
	http.StatusUnauthorized:       connect.CodeUnauthenticated,
	http.StatusForbidden:          connect.CodePermissionDenied,
	http.StatusRequestTimeout:     connect.CodeDeadlineExceeded,
	http.StatusTooManyRequests:    connect.CodeResourceExhausted,
	http.StatusServiceUnavailable: connect.CodeUnavailable,
	http.StatusBadGateway:         connect.CodeUnavailable,
}

// coded adds the gRPC code to an error. Callers get no details of internal errors, which
// are only logged.
func (c RPC) coded(method connect.Spec, err error) error {
	var done *connect.Error
	if err == nil || errors.As(err, &done) {
		return err
	}
	for _, known := range codes {
		if errors.Is(err, known.err) {
			return withFields(connect.NewError(known.code, rest.Said(err)), err)
		}
	}
	if errors.Is(err, fairlead.ErrUnavailable) {
		c.Log.Error("request failed", "method", method.Procedure, "error", err)
		return connect.NewError(connect.CodeUnavailable, fairlead.ErrUnavailable) // without the database's message
	}
	var own *rest.Error
	if errors.As(err, &own) {
		return connect.NewError(ownCodes[own.Status], err)
	}
	switch {
	case errors.Is(err, context.Canceled):
		return connect.NewError(connect.CodeCanceled, err)
	case errors.Is(err, context.DeadlineExceeded):
		return connect.NewError(connect.CodeDeadlineExceeded, err)
	}
	c.Log.Error("request failed", "method", method.Procedure, "error", err)
	return connect.NewError(connect.CodeInternal, errors.New("internal error; see the server log"))
}

// withFields adds the invalid fields to an error.
func withFields(out *connect.Error, err error) *connect.Error {
	var invalid *fairlead.InvalidError
	if !errors.As(err, &invalid) {
		return out
	}
	refusal := &errdetails.BadRequest{}
	for _, f := range invalid.Fields {
		refusal.FieldViolations = append(refusal.FieldViolations, &errdetails.BadRequest_FieldViolation{Field: f.Field, Description: f.Message})
	}
	if detail, err := connect.NewErrorDetail(refusal); err == nil {
		out.AddDetail(detail)
	}
	return out
}
