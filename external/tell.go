package external

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead"
)

// tellPatience limits how long the end of a timed-out attempt waits until its notice is
// stored. It is shorter than the grace period of handlers.
const tellPatience = 4 * time.Second

// tellTimeouts stores the notice of a timed-out attempt before the store learns of the
// timeout: if the node dies in between, the attempt counts as crashed and no timeout goes
// unreported.
func (c *Courier) tellTimeouts(next fairlead.Handler) fairlead.Handler {
	return fairlead.HandlerFunc(func(ctx context.Context, job *fairlead.Job) error {
		err := next.Work(ctx, job)
		if err != nil && overdue(ctx) {
			patient, cancel := context.WithTimeout(context.WithoutCancel(ctx), tellPatience)
			defer cancel()
			c.timedOut(patient, job)
		}
		return err
	})
}

// overdueText is the error of an attempt that timed out.
const overdueText = "the attempt took longer than its timeout"

// overdue reports whether a context has ended and its deadline has passed. The node may
// have ended it a moment before the context's own timer did.
func overdue(ctx context.Context) bool {
	deadline, timed := ctx.Deadline()
	return timed && ctx.Err() != nil && !time.Now().Before(deadline)
}

// timedOut reports that an attempt exceeded its timeout. The node also calls it for
// handlers that do not return. If it fails, Watch tries again, because the store has no
// trace of an attempt that is followed by another.
func (c *Courier) timedOut(ctx context.Context, job *fairlead.Job) {
	own := *job
	own.Reason, own.Error = fairlead.ReasonTimeout, overdueText
	if !c.tell(ctx, eventTimeout, job, hasTimeoutURL, func() *fairlead.Job { return &own }) {
		c.owe([]*fairlead.Job{&own})
	}
}

// failed reports that a job failed for good. If it fails, Watch finds the job.
func (c *Courier) failed(ctx context.Context, job *fairlead.Job, err error) {
	c.tell(ctx, eventFailed, job, hasAnything, func() *fairlead.Job {
		stored, problem := c.client.Get(ctx, job.ID)
		if problem == nil && stored.State == fairlead.Failed && stored.Fence == job.Fence {
			return stored
		}
		// The job was deleted or retried already: use the node's data until it is confirmed.
		own := *job
		own.Reason = fairlead.ReasonError
		if err != nil {
			own.Error = err.Error()
		}
		return &own
	})
}

// tell stores a notice if the job's tenant wants it, and returns true unless storing
// failed. There are no notices about notices.
func (c *Courier) tell(ctx context.Context, event string, job *fairlead.Job, willDo func(fairlead.Tenant) bool, describe func() *fairlead.Job) bool {
	if job.Kind == NoticeKind {
		return true
	}
	to, err := c.recipients.find(ctx, job.Tenant, willDo)
	if err == nil && (notice{Event: event}).url(to.Tenant) != "" {
		var bringer *fairlead.Job
		if bringer, err = about(event, describe()).job(job.Trace); err == nil {
			err = c.client.Enqueue(ctx, bringer)
		}
	}
	if err != nil {
		c.logOf(job).Warn("notice not stored yet", "event", event, "error", err)
	}
	return err == nil
}

// logOf returns a logger with the attributes of a job.
func (c *Courier) logOf(job *fairlead.Job) *slog.Logger {
	log := c.log.With("job", job.ID, "kind", job.Kind, "tenant", job.Tenant, "attempt", job.Attempt)
	if trace := fairlead.TraceID(job.Trace); trace != "" {
		log = log.With("trace_id", trace)
	}
	return log
}

// owed contains jobs with timeout notices that could not be stored yet.
type owed struct {
	mu   sync.Mutex
	jobs []*fairlead.Job
}

// maxOwed limits their number.
const maxOwed = 1000

// add adds a job. It returns false if there are too many.
func (o *owed) add(job *fairlead.Job) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.jobs) >= maxOwed {
		return false
	}
	o.jobs = append(o.jobs, job)
	return true
}

// take removes and returns all jobs.
func (o *owed) take() []*fairlead.Job {
	o.mu.Lock()
	defer o.mu.Unlock()
	jobs := o.jobs
	o.jobs = nil
	return jobs
}
