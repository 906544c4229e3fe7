package httpcall

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/fairlead-io/fairlead"
)

// Work makes one call. A 4xx answer other than 408, 425 and 429 fails the job
// for good, unless it counts as a success; every other failure is tried again. A
// target that fails or is busy makes the job come back later, which is no failure
// of the job.
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
	key := idempotencyKey(job)
	call, err := p.prepare(ctx, job, key, origin, callback, h.options.Secrets)
	if err != nil {
		return unprepared(err)
	}
	caller, err := h.callers.with(p.tls, h.options.Secrets.read)
	if err != nil {
		return unprepared(err)
	}
	entered, wait := h.breakers.enter(address(call.request.URL))
	if entered.breaker == nil {
		return fairlead.SnoozeFor(wait)
	}
	begin, said := time.Now(), unknown
	defer func() { h.breakers.leave(entered, said) }()
	reply, err := caller.exchange(call.request)
	said = verdictOf(reply, err)
	if err == nil {
		err = p.judge(call.request, reply)
	}
	snapshot := Snapshot{
		At: begin.UTC().Truncate(time.Microsecond), DurationMS: time.Since(begin).Milliseconds(),
		IdempotencyKey: key, Attempt: job.Attempt, Failures: job.Failures, Request: call.shown,
	}
	snapshot.answer(reply, call.hide)
	switch {
	case err != nil:
		return failed(ctx, job, reply, err, snapshot, call.hide)
	case p.async:
		return accepted(ctx, p, snapshot)
	default:
		return fairlead.SetOutput(ctx, snapshot)
	}
}

func (h *Handler) originOf(ctx context.Context, job *fairlead.Job) (Origin, error) {
	if h.options.Schedule == nil || !job.Fired {
		return Origin{}, nil
	}
	return h.options.Schedule(ctx, job)
}

// judge is the failure of an answer that is no success.
func (p *plan) judge(request *http.Request, reply Reply) error {
	if unmet := p.success.met(reply); unmet != nil {
		return &Error{ClassStatus, fmt.Errorf("%s %w", shown(request.URL), unmet)}
	}
	return nil
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
func failed(ctx context.Context, job *fairlead.Job, reply Reply, err error, snapshot Snapshot, hide *masker) error {
	final := hopeless(reply.Status, err)
	var failure *Error
	if errors.As(err, &failure) {
		snapshot.ErrorClass = failure.Class
		err = &Error{failure.Class, hide.error(failure.Err)}
	}
	snapshot.Error = err.Error()
	if problem := fairlead.FinalProgress(ctx, snapshot); problem != nil {
		return errors.Join(err, problem)
	}
	if final {
		return fairlead.Fatal(err)
	}
	if pause, asked := pauseAsked(job, reply, time.Now()); asked {
		return fairlead.RetryAfter(pause, err)
	}
	return err
}

// verdictOf is what a call says of its target. An answer that is no success may
// well be the job's own fault, but for those that say that the target is not
// there or cannot keep up.
func verdictOf(reply Reply, err error) verdict {
	var failure *Error
	var denied *DeniedError
	switch {
	case errors.As(err, &denied):
		return unknown
	case errors.As(err, &failure) && failure.Class == ClassCanceled:
		return unknown
	case err != nil:
		return unhealthy
	case reply.Status == http.StatusBadGateway, reply.Status == http.StatusServiceUnavailable, reply.Status == http.StatusGatewayTimeout:
		return unhealthy
	default:
		return answered
	}
}

// unprepared is the outcome of a call that could not be made ready. Secrets that
// cannot be read may be there next time; all else stays as it is.
func unprepared(err error) error {
	var unreadable *unreadableError
	if errors.As(err, &unreadable) {
		return err
	}
	return fairlead.Fatal(err)
}
