package engine

import (
	"context"
	"errors"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

const (
	// removeEvery is how often a node looks for failed jobs that are to be removed.
	removeEvery = 10 * time.Second
	// removeOverlap is how far a look reaches behind the one before: a failure may become
	// visible so long after the moment it is dated.
	removeOverlap = time.Minute
)

// removesJobs is a store whose failed jobs can be found and removed. What is in front of
// one may not.
type removesJobs interface {
	Now(ctx context.Context) (time.Time, error)
	FindPage(ctx context.Context, filter fairlead.Filter) (fairlead.Page, error)
	Operate(ctx context.Context, id int64, operation fairlead.Operation) error
}

var _ removesJobs = driver.Store(nil)

// keepRemoving removes jobs with RemoveFailed that have failed. However a job failed, the
// store has it as failed first: so none is missed, whatever dies in between.
func (l *life) keepRemoving(ctx context.Context) {
	store, ok := l.keeper.(removesJobs)
	if !ok {
		return
	}
	r := remover{store: store, retention: l.options.Retention.Failed}
	l.newLoop("remove", removeEvery).run(ctx, func(ctx context.Context) (time.Duration, error) { return 0, r.look(ctx) })
}

// remover is what a node remembers of failed jobs between two looks.
type remover struct {
	store     removesJobs
	retention time.Duration // of failed jobs; zero: for ever
	from      time.Time     // before this none is left; zero: this is the first look
}

// look removes what failed long enough ago. Those whose end has still to be seen by
// others are looked at again.
func (r *remover) look(ctx context.Context) error {
	now, err := r.store.Now(ctx)
	if err != nil {
		return err
	}
	if r.from.IsZero() {
		r.from = time.UnixMicro(1)
		if r.retention > 0 {
			r.from = now.Add(-r.retention - removeOverlap)
		}
	}
	due := now.Add(-fairlead.RemoveAfter)
	next := due.Add(-removeOverlap)
	filter := fairlead.Filter{States: []fairlead.State{fairlead.Failed}, OnFail: fairlead.RemoveFailed, FinishedFrom: r.from, Limit: keepChunk}
	for {
		page, err := r.store.FindPage(ctx, filter)
		if err != nil {
			return err
		}
		for _, job := range page.Jobs {
			if job.FinishedAt.After(due) {
				continue
			}
			err := r.store.Operate(ctx, job.ID, fairlead.Operation{Op: fairlead.OpDelete, Seen: job}) // not if it was retried meanwhile
			switch {
			case errors.Is(err, fairlead.ErrConflict):
				if job.FinishedAt.Before(next) {
					next = job.FinishedAt
				}
			case err != nil && !errors.Is(err, fairlead.ErrNotFound): // another node was faster
				return err
			}
		}
		if filter.Below = page.Next; page.Next == 0 {
			r.from = next
			return nil
		}
	}
}
