package engine

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// keepExpiring ends the waits of jobs whose answer did not come in time. Listeners hear
// of them before: a node that dies in between leaves the jobs to the next node, which
// tells its listeners again.
func (l *life) keepExpiring(ctx context.Context) {
	expirer := l.newLoop("expire", l.options.Poll)
	expirer.run(ctx, func(ctx context.Context) (time.Duration, error) {
		for {
			overdue, err := l.keeper.Overdue(ctx, keepChunk)
			if err != nil || len(overdue) == 0 {
				return 0, err
			}
			if err := l.tellOverdue(ctx, overdue); err != nil {
				return 0, err
			}
			n, err := l.keeper.Expire(ctx, overdue)
			if n > 0 {
				l.log.Warn("waiting jobs reached their deadline without an answer", "jobs", n)
				l.unattended.poke()
			}
			if err != nil || n < keepChunk {
				return 0, err
			}
		}
	})
}

// findsJobs is a store that has the jobs of which it tells. What is in front of one may
// not.
type findsJobs interface {
	Find(ctx context.Context, filter fairlead.Filter) ([]*fairlead.Job, error)
}

var _ findsJobs = driver.Store(nil)

// tellOverdue calls the listeners that want to hear of missed deadlines, and waits for
// them.
func (l *life) tellOverdue(ctx context.Context, overdue []driver.Held) error {
	store, ok := l.keeper.(findsJobs)
	if !ok || !l.anyHearsDeadlines() {
		return nil
	}
	fences := make(map[int64]int64, len(overdue))
	filter := fairlead.Filter{States: []fairlead.State{fairlead.Waiting}, Limit: len(overdue)}
	for _, held := range overdue {
		fences[held.ID] = held.Fence
		filter.IDs = append(filter.IDs, held.ID)
	}
	jobs, err := store.Find(ctx, filter)
	if err != nil {
		return err
	}
	for _, t := range l.tellers {
		var missed []*fairlead.Job
		for _, job := range jobs {
			if t.OnDeadline != nil && t.wants(job) && job.Fence == fences[job.ID] {
				own := *job
				missed = append(missed, &own)
			}
		}
		if len(missed) > 0 {
			l.callHook("listener", missed[0], func(ctx context.Context) { t.OnDeadline(ctx, missed) })
		}
	}
	return nil
}

func (l *life) anyHearsDeadlines() bool {
	for _, t := range l.tellers {
		if t.OnDeadline != nil {
			return true
		}
	}
	return false
}
