package external

import (
	"context"
	"errors"
	"time"

	"github.com/fairlead-io/fairlead"
)

// tellPatience bounds how long the end of an attempt that timed out waits for its
// notice to be stored. It is shorter than the grace that handlers have.
const tellPatience = 2 * time.Second

// tellTimeouts stores the notice of an attempt that timed out before the store
// learns of the timeout: if the node dies in between, the attempt counts as
// crashed and no timeout is missed.
func (c *Courier) tellTimeouts(next fairlead.Handler) fairlead.Handler {
	return fairlead.HandlerFunc(func(ctx context.Context, job *fairlead.Job) error {
		err := next.Work(ctx, job)
		if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
			patient, cancel := context.WithTimeout(context.WithoutCancel(ctx), tellPatience)
			defer cancel()
			c.timedOut(patient, job)
		}
		return err
	})
}

// timedOut tells that an attempt took longer than its timeout. It is also called
// by the node, for handlers that do not return.
func (c *Courier) timedOut(ctx context.Context, job *fairlead.Job) {
	c.tell(ctx, eventTimeout, job, hasTimeoutURL, func() *fairlead.Job {
		own := *job
		own.Reason, own.Error = fairlead.ReasonTimeout, "the attempt took longer than its timeout"
		return &own
	})
}

// failed tells that a job failed for good. If that does not work, Watch finds
// the job.
func (c *Courier) failed(ctx context.Context, job *fairlead.Job, err error) {
	c.tell(ctx, eventFailed, job, hasAnything, func() *fairlead.Job {
		stored, problem := c.client.Get(ctx, job.ID)
		if problem == nil && stored.State == fairlead.Failed && stored.Fence == job.Fence {
			return stored
		}
		// Somebody has removed it or retries it already: what the node knows must do.
		own := *job
		own.Reason = fairlead.ReasonError
		if err != nil {
			own.Error = err.Error()
		}
		return &own
	})
}

// tell stores a notice if the job's tenant wants it. Notices are not told of.
func (c *Courier) tell(ctx context.Context, event string, job *fairlead.Job, willDo func(fairlead.Tenant) bool, describe func() *fairlead.Job) {
	if job.Kind == NoticeKind {
		return
	}
	to, err := c.recipients.find(ctx, job.Tenant, willDo)
	if err == nil && (notice{Event: event}).url(to.Tenant) != "" {
		var bringer *fairlead.Job
		if bringer, err = about(event, describe()).job(job.Trace); err == nil {
			err = c.client.Enqueue(ctx, bringer)
		}
	}
	if err != nil {
		c.log.Warn("notice not stored", "event", event, "job", job.ID, "tenant", job.Tenant, "error", err)
	}
}
