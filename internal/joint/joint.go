// Package joint lets many callers share the answers to one question.
package joint

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Call asks one question on behalf of all callers that wait for its answer. However
// many callers there are, one run is under way at a time and runs are apart, so the
// load that callers can cause has a bound. A caller never gets an answer that is
// older than its question: it waits for a run that begins after it came.
type Call[T any] struct {
	// Ask answers the question.
	Ask func(ctx context.Context) (T, error)
	// Patience bounds one run.
	Patience time.Duration
	// Pause is the least time between the end of a run and the next one.
	Pause time.Duration
	// LongestPause bounds the pause after a run that took long; see pauseFactor.
	LongestPause time.Duration

	mu      sync.Mutex
	waiting *run[T] // has not begun; nil: no caller waits for one
	last    *run[T] // the newest, begun or not
}

// pauseFactor is how many times longer than a run the pause after it is, so that
// runs take a tenth of the time at most.
const pauseFactor = 9

// run is one time that the question is asked.
type run[T any] struct {
	before *run[T]       // must have ended first; nil: there is none
	done   chan struct{} // closed when what follows is set
	answer T
	err    error
	free   time.Time // when the next run may begin
}

var errInterrupted = errors.New("the query was interrupted")

// Do returns the answer of a run that begins after the call. It fails as the run
// does, or with the cause of ctx. A caller that runs on behalf of others returns
// after the run even if its own ctx has ended.
func (c *Call[T]) Do(ctx context.Context) (answer T, err error) {
	r, leads := c.join()
	if leads {
		c.lead(ctx, r)
	}
	select {
	case <-r.done:
		return r.answer, r.err
	case <-ctx.Done():
		return answer, context.Cause(ctx)
	}
}

// join returns the run that comes next, and whether the caller has to lead it.
func (c *Call[T]) join() (next *run[T], leads bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting == nil {
		c.waiting, leads = &run[T]{before: c.last, done: make(chan struct{}), err: errInterrupted}, true
		c.last = c.waiting
	}
	return c.waiting, leads
}

// lead waits for the turn of a run and carries it out.
func (c *Call[T]) lead(ctx context.Context, r *run[T]) {
	if r.before != nil {
		<-r.before.done // bounded: it has begun, or waits for one that has
		time.Sleep(time.Until(r.before.free))
		r.before = nil
	}
	c.mu.Lock()
	c.waiting = nil // callers from now on get the next run
	c.mu.Unlock()
	asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.Patience)
	defer cancel()
	defer close(r.done) // also if Ask panics
	began := time.Now()
	r.answer, r.err = c.Ask(asking)
	ended := time.Now()
	r.free = ended.Add(max(c.Pause, min(pauseFactor*ended.Sub(began), c.LongestPause)))
}
