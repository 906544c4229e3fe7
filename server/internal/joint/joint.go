// Package joint shares the result of one query among many callers.
package joint

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Call performs a query on behalf of all callers that wait for its result. However many
// callers there are, only one run is in progress at a time, and there are pauses between
// runs. This limits the load. A caller never receives a result older than its call, because
// it waits for a run that begins after the call.
type Call[T any] struct {
	// Ask performs the query.
	Ask func(ctx context.Context) (T, error)
	// Patience limits the duration of one run.
	Patience time.Duration
	// Pause is the minimum time between the end of a run and the next one.
	Pause time.Duration
	// LongestPause limits the pause after a long run; see pauseFactor.
	LongestPause time.Duration

	mu      sync.Mutex
	waiting *run[T] // next run, which has not begun; nil = no waiting callers
	last    *run[T] // newest run, begun or not
}

// pauseFactor is the length of the pause after a run as a multiple of the run's duration.
// It limits runs to a tenth of the time.
const pauseFactor = 9

// run is one execution of the query.
type run[T any] struct {
	before *run[T]       // must end first; nil = none
	done   chan struct{} // closed when the following fields are set
	answer T
	err    error
	free   time.Time // earliest start of the next run
}

var errInterrupted = errors.New("the query was interrupted")

// Do returns the result of a run that begins after the call to Do. It returns the run's
// error, or the cause of ctx if ctx ends first. If a caller executes the run on behalf of
// others, Do returns to that caller only after the run, even if ctx has ended.
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

// join returns the next run, and whether the caller must execute it.
func (c *Call[T]) join() (next *run[T], leads bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting == nil {
		c.waiting, leads = &run[T]{before: c.last, done: make(chan struct{}), err: errInterrupted}, true
		c.last = c.waiting
	}
	return c.waiting, leads
}

// lead waits for the turn of a run and executes it.
func (c *Call[T]) lead(ctx context.Context, r *run[T]) {
	if r.before != nil {
		<-r.before.done // limited, because that run has begun or waits for one that has
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
