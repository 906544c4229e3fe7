package sweeping

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead/internal/pace"
)

const (
	// firstCheckpoint is the delay before a run saves first. Each following pause is longer
	// by half, up to Every, so that a run makes progress even if its node does not live
	// long.
	firstCheckpoint = 50 * time.Millisecond
	// soonAgain is the longest pause while more orders may follow at any moment.
	soonAgain = 100 * time.Millisecond
)

// keepCheckpoints saves checkpoints periodically until everything is settled.
func (r *Runner) keepCheckpoints(ctx context.Context, settled <-chan struct{}) {
	every := min(firstCheckpoint, r.shard.Every)
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	last := time.Now()
	for {
		select {
		case <-settled:
			return
		case <-ticker.C:
		case <-r.hurry:
		}
		if every < r.shard.Every {
			every = min(every+every/2, r.shard.Every)
			ticker.Reset(every)
		}
		r.adapt(time.Since(last))
		last = time.Now()
		made := r.Progress()
		orders, err := r.shard.Save(ctx, made)
		if err == nil {
			r.told(&made)
			r.Order(orders)
			if orders.Confirm {
				r.hurryUp()
			}
			if orders.Soon {
				every = min(every, soonAgain)
				ticker.Reset(every)
			}
		} else if r.lose(err) {
			<-settled
			return
		}
	}
}

// hurryUp requests an immediate checkpoint.
func (r *Runner) hurryUp() {
	select {
	case r.hurry <- struct{}{}:
	default:
	}
}

// Progress returns the current checkpoint, including finished items that the workers have
// not handed over yet.
func (r *Runner) Progress() Checkpoint {
	r.mu.Lock()
	defer r.mu.Unlock()
	busy := 0
	for _, w := range r.crew {
		r.collect(w)
		if w.busy {
			busy++
		}
	}
	mark, bitmap := r.window.Encode()
	return Checkpoint{
		Mark: mark, Window: bitmap, Aside: r.aside.list(), Counts: r.counts, Again: r.redo.left, Spent: r.spent, Busy: busy,
		Failed: slices.Clip(r.failures), Redone: slices.Clip(r.redone),
	}
}

// adapt lets the governor adjust the rate to the load since the last call.
func (r *Runner) adapt(elapsed time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	load := r.load
	r.load = pace.Sample{}
	if r.governor == nil {
		return
	}
	if load.Elapsed = elapsed; load.Tries > 0 {
		load.Latency /= time.Duration(load.Tries) // was the sum so far
	}
	r.pace.SetRate(r.governor.Tick(load))
}

// lastTries is the number of tries to save the last checkpoint. Without it, the items done
// since the previous checkpoint are repeated.
const (
	lastTries = 6
	lastPause = 200 * time.Millisecond
	lastLimit = 5 * time.Second
)

// last saves the final checkpoint after all workers have ended.
func (r *Runner) last(ctx context.Context) (Ending, error) {
	checkpoint := r.Progress()
	r.mu.Lock()
	checkpoint.Ending = r.ending
	r.mu.Unlock()
	if checkpoint.Ending.End == Lost {
		return checkpoint.Ending, nil
	}
	// The context may have ended because the node is shutting down: there is still time for
	// this.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastLimit)
	defer cancel()
	for try := 1; ; try++ {
		_, err := r.shard.Save(ctx, checkpoint)
		if err == nil {
			return checkpoint.Ending, nil
		}
		if r.lose(err) {
			return Ending{End: Lost}, nil
		}
		if try == lastTries || !r.leased(time.Now()) || errors.Is(pause(ctx, lastPause<<(try-1)), context.DeadlineExceeded) {
			return checkpoint.Ending, fmt.Errorf("sweeping: the last checkpoint was not saved: %w", err)
		}
	}
}

// pause waits for d, or returns an error if the context ends.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
