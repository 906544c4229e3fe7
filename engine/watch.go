package engine

import (
	"context"
	"errors"
	"time"

	"github.com/fairlead-io/fairlead/internal/verdict"
)

// watchHandlers gives up on handlers that ignore the end of their context:
// after the grace their job is settled without them, after the stuck limit
// their slot is given to others.
func (l *life) watchHandlers(ctx context.Context) {
	every := max(l.options.Grace/8, time.Millisecond)
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			l.watchOnce(time.Now())
		}
	}
}

func (l *life) watchOnce(now time.Time) {
	stuck := int64(0)
	for _, r := range l.registry.snapshot() {
		if r.expired(now) {
			r.end(verdict.ErrTimeout)
		}
		late := r.overdue(now)
		if late < l.options.Grace || r.took() == 0 {
			continue
		}
		stuck++
		l.abandon(r)
		if late >= l.options.StuckLimit {
			r.group.giveSlotAway(r)
		}
	}
	l.stuck.Store(stuck)
}

// abandon settles the job of a handler that will not return. Whatever it
// returns later is too late.
func (l *life) abandon(r *run) {
	if r.settled.CompareAndSwap(false, true) {
		l.options.Observer.Abandoned(r.job)
		l.logOf(r.job).Error("handler ignores its cancelled context: its job continues without it")
		l.settle(r, errors.Join(verdict.ErrStuck, r.why()))
	}
}

// expired reports whether the run's timeout is over. Its context ends by
// itself then; this is how the watch learns of it.
func (r *run) expired(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cause == nil && !r.started.IsZero() && now.Sub(r.started) >= r.timeout
}
