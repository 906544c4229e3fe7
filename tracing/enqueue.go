package tracing

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/mask"
)

// Receive adds requests to the trace that their traceparent header names, if they have this
// header.
func Receive(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if parent := r.Header.Get(header); parent != "" {
			r = r.WithContext(within(r.Context(), parent))
		}
		next.ServeHTTP(w, r)
	})
}

// An Enqueuer creates spans for enqueued jobs.
type Enqueuer struct {
	tracer trace.Tracer
}

// NewEnqueuer returns an Enqueuer that sends its spans to the provider. If provider is nil,
// the Enqueuer creates no spans and adds jobs to the trace in the context.
func NewEnqueuer(provider trace.TracerProvider) *Enqueuer {
	if provider == nil {
		provider = noop.NewTracerProvider()
	}
	return &Enqueuer{tracer: provider.Tracer(scope)}
}

// Enqueue adds a new span to the jobs and then calls store within that span.
func (e *Enqueuer) Enqueue(ctx context.Context, jobs []*fairlead.Job, store func(ctx context.Context) error) error {
	ctx, span := e.tracer.Start(ctx, "enqueue", trace.WithSpanKind(trace.SpanKindProducer))
	defer span.End()
	Stamp(ctx, jobs...)
	err := store(ctx)
	if !span.IsRecording() {
		return err
	}
	span.SetAttributes(attribute.Int("fairlead.jobs", len(jobs)))
	if err != nil {
		span.SetStatus(codes.Error, mask.Hide(ctx, err.Error()))
	} else if len(jobs) == 1 {
		span.SetAttributes(attribute.Int64("fairlead.job.id", jobs[0].ID), attribute.String("fairlead.job.kind", jobs[0].Kind))
	}
	return err
}
