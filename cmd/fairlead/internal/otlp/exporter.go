// Package otlp sends spans to an OpenTelemetry collector: as OTLP over HTTP, in protobuf.
//
// OpenTelemetry's own exporter does the same but depends on gRPC, about a hundred packages
// that would be compiled and never called.
package otlp

import (
	"context"
	"net/http"
	"sync"

	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// Exporter sends spans to a collector. It receives batches of spans from an
// sdk.BatchSpanProcessor.
type Exporter struct {
	options Options
	web     *http.Client
	ended   chan struct{} // closed when no more requests may be retried
	end     sync.Once
}

var _ sdk.SpanExporter = (*Exporter)(nil)

// New returns an exporter with the given options.
func New(options Options) *Exporter {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = options.TLS
	return &Exporter{options: options, ended: make(chan struct{}), web: &http.Client{
		Transport: transport,
		Timeout:   options.Timeout,
		// Headers contain keys, which must not follow redirects.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// ExportSpans sends a batch of spans. It retries if the collector is unreachable or asks for
// a retry. The error includes neither headers nor the URL's query, because both may contain
// keys.
func (e *Exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	if len(spans) == 0 {
		return nil
	}
	body, err := e.packed(encode(spans))
	if err != nil {
		return err
	}
	return e.repeat(ctx, func() error { return e.send(ctx, body) })
}

// Shutdown prevents further retries and interrupts pauses before a retry.
func (e *Exporter) Shutdown(context.Context) error {
	e.end.Do(func() { close(e.ended) })
	e.web.CloseIdleConnections()
	return nil
}
