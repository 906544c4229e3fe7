// Package otlp sends spans to an OpenTelemetry collector: as OTLP over HTTP, in protobuf.
//
// OpenTelemetry's own exporter does the same and brings gRPC with it, a hundred packages
// that are compiled and never called.
package otlp

import (
	"context"
	"net/http"
	"sync"

	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// Exporter sends spans. It is what a sdk.BatchSpanProcessor hands its batches to.
type Exporter struct {
	options Options
	web     *http.Client
	ended   chan struct{} // closed when no request is to be repeated any more
	end     sync.Once
}

var _ sdk.SpanExporter = (*Exporter)(nil)

// New makes an exporter.
func New(options Options) *Exporter {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = options.TLS
	return &Exporter{options: options, ended: make(chan struct{}), web: &http.Client{
		Transport: transport,
		Timeout:   options.Timeout,
		// Headers hold keys, and go where they are meant to.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// ExportSpans sends a batch, again if the collector asks for that or is not reached. Its
// error names neither headers nor a query of the URL: both may hold keys.
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

// Shutdown ends the waiting for another try.
func (e *Exporter) Shutdown(context.Context) error {
	e.end.Do(func() { close(e.ended) })
	e.web.CloseIdleConnections()
	return nil
}
