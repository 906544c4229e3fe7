package httpcall

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead/tracing"
)

// ItemsLoop makes many calls at once on one goroutine, which alone may use it. To
// targets that answer soon, that goes faster than with a goroutine for each call.
type ItemsLoop interface {
	// Begin begins the call for an item, under a number.
	Begin(run *ItemsRun, number int, item CallItem)
	// Wait waits until calls have ended, at most for so long. What it returns is good
	// until it is called again.
	Wait(most time.Duration) []ItemsEnd
	// Fits reports whether calls of this sort are what a loop is good for.
	Fits() bool
	// Close is called once no call is under way.
	Close()
}

// ItemsEnd is the end of a call for an item: what ItemsRun.Do returns.
type ItemsEnd struct {
	Number int
	Reply  Reply
	Err    error
}

// Loop makes a loop for calls under a context. It is nil where that is of no use.
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
