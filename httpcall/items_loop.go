package httpcall

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead/tracing"
)

// ItemsLoop makes many calls concurrently on one goroutine, and must not be used by
// others. It is faster than a goroutine per call if targets answer quickly.
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

// ItemsEnd is the end of a call for an item: the result of ItemsRun.Do.
type ItemsEnd struct {
	Number int // number given to Begin
	Reply  Reply
	Err    error
}

// Loop returns a loop for calls under a context. It returns nil if loops are not
// supported on this system or would not be faster.
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
