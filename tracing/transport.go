package tracing

import (
	"net/http"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/fairlead-io/fairlead/internal/mask"
)

// Transport returns a RoundTripper that creates a span for each request whose context has a
// span, and passes the trace on to the target. The new span uses the tracer provider of the
// context's span. It contains only the URL's host, because the rest of the URL may contain
// secrets. If the running job's URL is confidential, the span does not contain the host
// either. If base is nil, Transport uses http.DefaultTransport.
func Transport(base http.RoundTripper) http.RoundTripper {
	if base == nil {
		base = http.DefaultTransport
	}
	return &transport{base}
}

type transport struct {
	base http.RoundTripper
}

// RoundTrip performs a request. Its span ends when the response headers arrive.
func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	caller := trace.SpanFromContext(request.Context())
	if !caller.SpanContext().IsValid() {
		return t.base.RoundTrip(request)
	}
	ctx, span := caller.TracerProvider().Tracer(scope).Start(request.Context(), request.Method,
		trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(targetOf(request)...))
	defer span.End()
	request = request.Clone(ctx) // a transport must not change the request of its caller
	request.Header.Set(header, Traceparent(ctx))
	response, err := t.base.RoundTrip(request)
	if err != nil {
		span.SetStatus(codes.Error, mask.Hide(ctx, err.Error()))
		return nil, err
	}
	span.SetAttributes(attribute.Int("http.response.status_code", response.StatusCode))
	if response.StatusCode >= http.StatusBadRequest {
		span.SetStatus(codes.Error, strconv.Itoa(response.StatusCode)+" "+http.StatusText(response.StatusCode)) // the reason phrase may repeat a secret
	}
	return response, nil
}

func targetOf(request *http.Request) []attribute.KeyValue {
	attributes := []attribute.KeyValue{
		attribute.String("http.request.method", request.Method),
		attribute.String("server.address", mask.Hide(request.Context(), request.URL.Hostname())),
	}
	if port, err := strconv.Atoi(request.URL.Port()); err == nil {
		attributes = append(attributes, attribute.Int("server.port", port))
	}
	return attributes
}

// CloseIdleConnections lets http.Client.CloseIdleConnections reach the base transport.
func (t *transport) CloseIdleConnections() {
	if base, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		base.CloseIdleConnections()
	}
}
