package tracing

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/fairlead-io/fairlead"
)

// Middleware creates a span "run KIND" for each run of a job. The span belongs to the job's
// trace, or to a new trace if the job has none. This middleware should be the outermost.
//
// The span contains the job's ID, kind, queue, tenant and attempt, the time of the claim,
// and the outcome: succeeded, failed (for good), retried (at a time chosen by the handler),
// snoozed, waiting, released, error or panic. The span cannot show whether an error leads to
// a retry, because this is decided later. The job's history shows it.
func Middleware(provider trace.TracerProvider) fairlead.Middleware {
	tracer := provider.Tracer(scope)
	return func(next fairlead.Handler) fairlead.Handler {
		return fairlead.HandlerFunc(func(ctx context.Context, job *fairlead.Job) (err error) {
			ctx, span := tracer.Start(within(ctx, job.Trace), "run "+job.Kind,
				trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(attributesOf(job)...))
			if !job.StartedAt.IsZero() {
				span.AddEvent("claimed", trace.WithTimestamp(job.StartedAt), trace.WithAttributes(attribute.Int64("fairlead.node", int64(job.Node))))
			}
			returned := false
			defer func() {
				end(span, err, returned)
			}()
			err = next.Work(ctx, job)
			returned = true
			return err
		})
	}
}

func attributesOf(job *fairlead.Job) []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.Int64("fairlead.job.id", job.ID),
		attribute.String("fairlead.job.kind", job.Kind),
		attribute.String("fairlead.job.queue", job.Queue),
		attribute.String("fairlead.job.tenant", job.Tenant),
		attribute.Int("fairlead.job.attempt", job.Attempt),
	}
}

// end records the outcome of a run. A panic continues to the function that recovers it.
func end(span trace.Span, err error, returned bool) {
	defer span.End()
	how, failed := outcomeOf(err)
	if !returned {
		how, failed = "panic", true
	}
	span.SetAttributes(attribute.String("fairlead.job.outcome", how))
	switch {
	case !returned:
		span.SetStatus(codes.Error, "the handler panicked")
	case failed:
		span.SetStatus(codes.Error, err.Error())
	}
}

func outcomeOf(err error) (name string, failed bool) {
	if err == nil {
		return "succeeded", false
	}
	var outcome *fairlead.Outcome
	if !errors.As(err, &outcome) {
		return "error", true
	}
	switch outcome.Settlement().Move {
	case fairlead.Fail:
		return "failed", true
	case fairlead.Again:
		return "retried", true
	case fairlead.Snooze:
		return "snoozed", false
	case fairlead.MoveAwait:
		return "waiting", false
	case fairlead.MoveRelease:
		return "released", false
	default:
		return "succeeded", false
	}
}
