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

// Receive makes requests part of the trace that their header names, if it does.
func Receive(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if parent := r.Header.Get(header); parent != "" {
			r = r.WithContext(within(r.Context(), parent))
		}
		next.ServeHTTP(w, r)
	})
}

// Enqueuer stores jobs as a part of traces.
type Enqueuer struct {
	tracer trace.Tracer
}

// NewEnqueuer makes an enqueuer whose spans go to the provider. Without one there
// are no spans, and jobs belong to the trace that the context names.
func NewEnqueuer(provider trace.TracerProvider) *Enqueuer {
	if provider == nil {
		provider = noop.NewTracerProvider()
	}
	return &Enqueuer{tracer: provider.Tracer(scope)}
}

// Enqueue calls store within a span, of which the jobs are told before.
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
