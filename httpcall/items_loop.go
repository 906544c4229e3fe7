package httpcall

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead/tracing"
)

// ItemsLoop makes many calls concurrently on one goroutine. Other goroutines must not use
// it. It is faster than one goroutine per call if targets respond quickly.
type ItemsLoop interface {
	// Begin starts the call for an item, identified by a number.
	Begin(run *ItemsRun, number int, item CallItem)
	// Wait waits until at least one call has ended, but at most for the given time. Its
	// result is valid until the next call of Wait.
	Wait(most time.Duration) []ItemsEnd
	// Fits reports whether a loop is suitable for calls of this kind.
	Fits() bool
	// Close releases the loop. No call may be in progress.
	Close()
}

// ItemsEnd is the result of an item's call, as ItemsRun.Do would return it.
type ItemsEnd struct {
	Number int // number given to Begin
	Reply  Reply
	Err    error
}

// Loop returns a loop that makes calls under ctx. It returns nil if this system does not
// support loops or if a loop would not be faster.
func (r *ItemsRun) Loop(ctx context.Context) ItemsLoop {
	if r.pattern == nil || tracing.Traceparent(ctx) != "" {
		return nil
	}
	return newLoop(ctx, r.call.handler)
}

// judged is the outcome of a call with an answer.
func (r *ItemsRun) judged(ctx context.Context, item CallItem, reply Reply) (Reply, error) {
	call, err := r.fillIn(ctx, []CallItem{item})
	if err != nil {
		return Reply{}, unprepared(err)
	}
	return r.conclude(call, reply, nil)
}

// unanswered is the outcome of a call that was ended: with its context, or else because
// its time was over.
func (r *ItemsRun) unanswered(ctx context.Context, item CallItem) (Reply, error) {
	call, err := r.fillIn(ctx, []CallItem{item})
	if err != nil {
		return Reply{}, unprepared(err)
	}
	if ctx.Err() != nil {
		return r.conclude(call, Reply{}, noAnswer(call.request, ctx.Err()))
	}
	return r.conclude(call, Reply{}, lateAnswer(call.request))
}
