package engine

import (
	"log/slog"

	"github.com/fairlead-io/fairlead"
)

// logOf is the log of what happens to a job: each line names it in the same way,
// so that all lines of a job, or of the trace it belongs to, can be found.
func (l *life) logOf(job *fairlead.Job) *slog.Logger {
	log := l.log.With("job", job.ID, "kind", job.Kind, "tenant", job.Tenant, "attempt", job.Attempt)
	if trace := fairlead.TraceID(job.Trace); trace != "" {
		log = log.With("trace_id", trace)
	}
	return log
}
