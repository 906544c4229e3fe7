// Package tracing adds jobs to OpenTelemetry traces: from the program that enqueues a job,
// through the queue, to the handler and its calls.
//
//	tracing.Stamp(ctx, job)                   // the job belongs to the trace of ctx
//	err := client.Enqueue(ctx, job)
//
//	mux.Use(tracing.Middleware(provider))     // its runs are spans of that trace
//	calls.Transport = tracing.Transport(nil)  // and so are the calls they make
//
// Job.Trace stores a W3C traceparent. Without tracing, this package costs only a lookup in
// the context.
package tracing

import (
	"context"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/fairlead-io/fairlead"
)

// scope is the instrumentation scope of the spans.
const scope = "github.com/fairlead-io/fairlead"

const header = "traceparent"

// Traceparent returns the W3C traceparent of the span in ctx. It returns an empty string if
// ctx has no span.
func Traceparent(ctx context.Context) string {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return ""
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier[header]
}

// Stamp adds jobs to the trace in ctx. Jobs that already belong to a trace stay in it.
func Stamp(ctx context.Context, jobs ...*fairlead.Job) {
	parent := Traceparent(ctx)
	if parent == "" {
		return
	}
	for _, job := range jobs {
		if job.Trace == "" {
			job.Trace = parent
		}
	}
}

// within returns a context in the trace that a traceparent names.
func within(ctx context.Context, traceparent string) context.Context {
	if traceparent == "" {
		return ctx
	}
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{header: traceparent})
}
