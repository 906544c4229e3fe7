package bench

import (
	"context"
	"errors"
	"time"
)

// Scheduler is a scheduler to be measured: it stores and runs jobs.
type Scheduler interface {
	// Enqueue stores jobs, in one call if the scheduler supports that. The jobs must be
	// durable when it returns.
	Enqueue(ctx context.Context, jobs []Args) error
	// Work runs jobs until ctx ends, and then returns nil.
	Work(ctx context.Context, events Events) error
}

// Events receives reports from Work, from many goroutines.
type Events struct {
	// Started is called when a handler starts, with the waiting time of its job (see
	// Args.Waited).
	Started func(waited time.Duration)
	// Ended is called when the end of a job is durable.
	Ended func()
}

// errStopped is the cause for ending workers that are no longer needed.
var errStopped = errors.New("no more work")

// startWork runs the scheduler's workers. The returned context ends when they fail, with
// their error as its cause, so that callers do not wait in vain. stop ends them and returns
// their error, if any.
func startWork(ctx context.Context, s Scheduler, events Events) (working context.Context, stop func() error) {
	working, cancel := context.WithCancelCause(ctx)
	finished := make(chan error, 1)
	go func() {
		err := s.Work(working, events)
		if err == nil && working.Err() == nil {
			err = errors.New("workers stopped without being asked")
		}
		cancel(err)
		finished <- err
	}()
	return working, func() error {
		cancel(errStopped)
		return <-finished
	}
}
