package httpcall

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"sync/atomic"
	"time"

	"github.com/fairlead-io/fairlead"
)

// ItemsRun makes a sweep's calls on behalf of the job that processes the items.
type ItemsRun struct {
	call    *ItemsCall
	job     *fairlead.Job
	sweep   int64
	perCall int
	timeout time.Duration
	key     func(items []CallItem) string
	pattern *pattern // of calls that are made quickly; nil: none is
	watched atomic.Pointer[watch]
}

// Under prepares the call for use by job, which processes items of the sweep. If timeout is
// zero, the call's own timeout applies. The function key returns the Idempotency-Key for a
// set of items. It must always return the same key for the same items.
func (c *ItemsCall) Under(job *fairlead.Job, sweep int64, perCall int, timeout time.Duration, key func(items []CallItem) string) *ItemsRun {
	r := &ItemsRun{call: c, job: job, sweep: sweep, perCall: perCall, key: key, timeout: timeout}
	if r.timeout <= 0 {
		r.timeout = c.plan.timeout
	}
	if r.timeout <= 0 {
		r.timeout = c.handler.options.Timeout
	}
	if perCall == 1 && c.plan.quick() {
		r.pattern = findPattern(r.written)
	}
	return r
}

// written is the request for an item as it goes over the connection.
func (r *ItemsRun) written(item CallItem) ([]byte, error) {
	call, err := r.fillIn(context.Background(), []CallItem{item})
	if err != nil {
		return nil, err
	}
	if call.request.ContentLength > wireBody {
		return nil, errors.New("the request is too large")
	}
	setUser(call.request)
	var out bytes.Buffer
	err = call.request.Write(&out)
	return out.Bytes(), err
}

// fillIn makes the request for some items.
func (r *ItemsRun) fillIn(ctx context.Context, items []CallItem) (*prepared, error) {
	p, job := *r.call.plan, r.job
	p.vars = varsOf(r.sweep, items, r.perCall, r.call.uses)
	maps.Copy(p.vars, r.call.plan.vars)
	if job.Attempt != items[0].Attempt {
		named := *job
		named.Attempt = items[0].Attempt
		job = &named
	}
	call, _, err := p.fillIn(ctx, job, r.key(items), Origin{}, ticket{}, r.call.handler.options.Secrets)
	return call, err
}

// Do makes the call for a set of items. Its errors are outcomes like those of jobs: if a
// retry cannot fix the error, it is fairlead.Fatal. Do waits while the target's breaker is
// open or the target has enough calls in progress.
func (r *ItemsRun) Do(ctx context.Context, items []CallItem) (Reply, error) {
	entered, err := r.call.enter(ctx)
	if err != nil {
		return Reply{}, err
	}
	said := unknown
	defer func() { r.call.handler.breakers.leave(entered, said) }()
	reply, called, err := r.doQuickly(ctx, items)
	if called && err == nil && r.call.plan.success.met(reply) == nil {
		said = answered
		return reply, nil
	}
	if !called {
		limited, cancel := context.WithTimeout(ctx, r.timeout)
		defer cancel()
		ctx = limited
	}
	call, unready := r.fillIn(ctx, items)
	if unready != nil {
		return Reply{}, unprepared(unready)
	}
	if !called {
		caller := r.call.handler.items
		if r.call.plan.tls != nil {
			if caller, err = r.call.handler.callers.with(r.call.plan.tls, r.call.handler.options.Secrets.read); err != nil {
				return Reply{}, unprepared(err)
			}
		}
		reply, err = caller.exchange(call.request)
	}
	said = verdictOf(reply, err)
	return r.conclude(call, reply, err)
}

// conclude is the outcome of a call.
func (r *ItemsRun) conclude(call *prepared, reply Reply, err error) (Reply, error) {
	if err == nil {
		err = r.call.plan.judge(call.request, reply)
	}
	if err == nil {
		return reply, nil
	}
	final := hopeless(reply.Status, err)
	var failure *Error
	if errors.As(err, &failure) {
		err = &Error{failure.Class, call.hide.error(failure.Err)}
	}
	if final {
		return reply, fairlead.Fatal(err)
	}
	if pause, asked := pauseAsked(r.job, reply, time.Now()); asked {
		return reply, fairlead.RetryAfter(pause, err)
	}
	return reply, err
}
