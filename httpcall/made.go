package httpcall

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/descriptors"
)

// madeCall is a call that was made, and what came of it.
type madeCall struct {
	reply    Reply
	snapshot Snapshot
	err      error // why it is no success, without secrets; nil: it is one
	final    bool  // trying again would not help
}

// call makes one call. It fails if nothing was sent: with a *leftAloneError if the target
// is to be left alone for a while.
func (h *Handler) call(ctx context.Context, p *plan, job *fairlead.Job, key string, origin Origin, callback ticket) (*madeCall, error) {
	ready, err := p.prepare(ctx, job, key, origin, callback, h.options.Secrets)
	if err != nil {
		return nil, unprepared(err)
	}
	caller, err := h.callers.with(p.tls, h.options.Secrets.read)
	if err != nil {
		return nil, unprepared(err)
	}
	entered, wait := h.breakers.enter(address(ready.request.URL))
	if entered.breaker == nil {
		return nil, &leftAloneError{address(ready.request.URL), wait}
	}
	begin, said := time.Now(), unknown
	defer func() { h.breakers.leave(entered, said) }()
	made := &madeCall{}
	made.reply, err = caller.exchange(ready.request)
	said = verdictOf(made.reply, err)
	if err == nil {
		err = p.judge(ready.request, made.reply)
	}
	made.snapshot = Snapshot{
		At: begin.UTC().Truncate(time.Microsecond), DurationMS: time.Since(begin).Milliseconds(),
		IdempotencyKey: key, Attempt: job.Attempt, Failures: job.Failures, Request: ready.shown,
	}
	made.snapshot.answer(made.reply, ready.hide)
	if err != nil {
		made.fail(err, ready.hide)
	}
	return made, nil
}

// fail keeps why a call is no success.
func (m *madeCall) fail(err error, hide *masker) {
	m.final = hopeless(m.reply.Status, err)
	var failure *Error
	if errors.As(err, &failure) {
		m.snapshot.ErrorClass = failure.Class
		err = &Error{failure.Class, hide.error(failure.Err)}
	}
	m.err, m.snapshot.Error = err, err.Error()
}

// leftAloneError is a call that was not made because its target has failed too often, or
// has as many calls as it may.
type leftAloneError struct {
	target string
	wait   time.Duration
}

func (e *leftAloneError) Error() string {
	return fmt.Sprintf("calls to %s are paused for %v: the last ones failed, or the limit of concurrent calls is reached", e.target, e.wait.Round(time.Second))
}

// Unwrap says that trying later may help.
func (e *leftAloneError) Unwrap() error { return fairlead.ErrConflict }

// judge is the failure of an answer that is no success.
func (p *plan) judge(request *http.Request, reply Reply) error {
	if unmet := p.success.met(reply); unmet != nil {
		return &Error{ClassStatus, fmt.Errorf("%s %w", shown(request.URL), unmet)}
	}
	return nil
}

// verdictOf is what a call says of its target. An answer that is no success may
// well be the job's own fault, but for those that say that the target is not
// there or cannot keep up.
func verdictOf(reply Reply, err error) verdict {
	var failure *Error
	var denied *DeniedError
	switch {
	case errors.As(err, &denied), descriptors.Exhausted(err):
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
	if errors.As(err, &unreadable) || descriptors.Exhausted(err) {
		return err
	}
	return fairlead.Fatal(err)
}
