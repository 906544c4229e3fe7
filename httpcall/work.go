package httpcall

import (
	"context"
	"errors"
	"time"

	"github.com/fairlead-io/fairlead"
)

// Work makes one call. A 4xx response other than 408, 425 and 429 fails the job for good,
// unless it counts as a success. Every other failure is retried. If the target's breaker is
// open or the target has too many calls in progress, the job runs again later. This does not
// count as a failure of the job.
func (h *Handler) Work(ctx context.Context, job *fairlead.Job) error {
	p, err := compile(job.Args)
	if err != nil {
		return fairlead.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(ctx, h.timeoutOf(job))
	defer cancel()
	callback, err := h.ticketFor(ctx, p, job)
	if err != nil {
		return err
	}
	origin, err := h.originOf(ctx, job)
	if err != nil {
		return err
	}
	made, err := h.call(ctx, p, job, idempotencyKey(job), origin, callback)
	var alone *leftAloneError
	switch {
	case errors.As(err, &alone):
		return fairlead.SnoozeFor(alone.wait)
	case err != nil:
		return err
	case made.err != nil:
		return failed(ctx, job, made)
	case p.async:
		return accepted(ctx, p, made.snapshot)
	default:
		return fairlead.SetOutput(ctx, made.snapshot)
	}
}

func (h *Handler) originOf(ctx context.Context, job *fairlead.Job) (Origin, error) {
	if h.options.Schedule == nil || !job.Fired {
		return Origin{}, nil
	}
	return h.options.Schedule(ctx, job)
}

// accepted leaves a job waiting for its callback.
func accepted(ctx context.Context, p *plan, snapshot Snapshot) error {
	if err := fairlead.FinalProgress(ctx, snapshot); err != nil {
		return err
	}
	return fairlead.Await(p.callbackTimeout)
}

// failed keeps what is known of a call that failed, and decides what becomes of
// its job.
func failed(ctx context.Context, job *fairlead.Job, made *madeCall) error {
	if problem := fairlead.FinalProgress(ctx, made.snapshot); problem != nil {
		return errors.Join(made.err, problem)
	}
	if made.final {
		return fairlead.Fatal(made.err)
	}
	if pause, asked := pauseAsked(job, made.reply, time.Now()); asked {
		return fairlead.RetryAfter(pause, made.err)
	}
	return made.err
}
