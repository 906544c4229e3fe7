// Package tracing makes jobs part of OpenTelemetry traces: from who enqueued
// them, through the queue, to their handler and what that calls.
//
//	tracing.Stamp(ctx, job)                   // the job belongs to the trace of ctx
//	err := client.Enqueue(ctx, job)
//
//	mux.Use(tracing.Middleware(provider))     // its runs are spans of that trace
//	calls.Transport = tracing.Transport(nil)  // and so are the calls they make
//
// What travels with a job is a W3C traceparent, in Job.Trace. Where nothing is
// traced this package costs a look into the context.
package tracing

import (
	"context"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/fairlead-io/fairlead"
)

// scope names who made a span.
const scope = "github.com/fairlead-io/fairlead"

const header = "traceparent"

// Traceparent is the W3C traceparent of the span in ctx. It is empty if there is
// none.
func Traceparent(ctx context.Context) string {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return ""
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier[header]
}

// Stamp makes jobs part of the trace in ctx. Those that belong to one stay there.
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

// within is ctx as a part of the trace that a traceparent names.
func within(ctx context.Context, traceparent string) context.Context {
	if traceparent == "" {
		return ctx
	}
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{header: traceparent})
}
