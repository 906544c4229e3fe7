package sqlite

import (
	"context"
	"database/sql"
	"time"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/internal/verdict"
)

// operate does something to one job, wherever it is. Nothing can move it
// between finding and doing: there is one writer at a time.
func (s *Store) operate(ctx context.Context, action verdict.Action, id int64, do func(t *txn, p *placed) error) error {
	_, err := inTx(ctx, s, string(action), func(t *txn) (none, error) {
		p, err := t.locate(id)
		if err != nil {
			return none{}, err
		}
		if err := action.Permit(id, p.state); err != nil {
			return none{}, err
		}
		return none{}, do(t, p)
	})
	return err
}

// Cancel ends a job, or asks a running one to stop.
func (s *Store) Cancel(ctx context.Context, id int64, reason string) error {
	reason = sqlstore.CleanText(reason)
	return s.operate(ctx, verdict.ToCancel, id, func(t *txn, p *placed) error {
		if verdict.Asked(p.state) {
			t.wakes.cancel = true
			return t.must(1, t.sql.Wish, reason, id)
		}
		next := verdict.Cancel(reason)
		return t.become(p, &next)
	})
}

// Reopen makes a failed or cancelled job ready or parked again.
func (s *Store) Reopen(ctx context.Context, id int64) error {
	return s.operate(ctx, verdict.ToReopen, id, func(t *txn, p *placed) error {
		if err := t.takeKey(p); err != nil {
			return err
		}
		if p.flags&sqlstore.FlagFire != 0 {
			if _, err := t.exec(t.sql.ReopenFire, id); err != nil {
				return err
			}
		}
		p.failures, p.crashes = 0, 0
		return t.awaitNow(p)
	})
}

// Reschedule sets when a job becomes due. The zero time means now.
func (s *Store) Reschedule(ctx context.Context, id int64, notBefore time.Time) error {
	return s.operate(ctx, verdict.ToReschedule, id, func(t *txn, p *placed) error {
		due := t.now
		if !notBefore.IsZero() {
			due = sqlstore.Micros(notBefore)
		}
		if err := t.leave(p); err != nil {
			return err
		}
		if due > t.now {
			if err := t.giveBack(p); err != nil {
				return err
			}
		}
		p.setTimes(p.times().MeantFor(due))
		return t.reenter(p, due)
	})
}

func (p *placed) times() verdict.Times {
	return verdict.Times{StartBy: p.startBy, NotBefore: p.notBefore, CreatedAt: p.createdAt}
}

func (p *placed) setTimes(times verdict.Times) {
	p.startBy, p.notBefore = times.StartBy, times.NotBefore
}

// reenter puts a job whose order was changed where it waits now.
func (t *txn) reenter(p *placed, due int64) error {
	if err := t.must(1, t.sql.SetOrder, p.turn, p.startBy, p.notBefore, p.id); err != nil {
		return err
	}
	return t.enter(p, due)
}

// RunNow makes a scheduled job ready or parked.
func (s *Store) RunNow(ctx context.Context, id int64) error {
	return s.operate(ctx, verdict.ToRun, id, (*txn).runNow)
}

// runNow lets a job run that waits for its time.
func (t *txn) runNow(p *placed) error {
	if verdict.ToRun.Moot(p.state) {
		return nil
	}
	return t.awaitNow(p)
}

// awaitNow lets a job wait for its turn that is meant to run now, if not before.
func (t *txn) awaitNow(p *placed) error {
	times, changed := p.times().RunNow(t.now)
	if !changed {
		return t.await(p, t.now)
	}
	if err := t.leave(p); err != nil {
		return err
	}
	p.setTimes(times)
	return t.reenter(p, t.now)
}

// SetPriority changes the priority of a job.
func (s *Store) SetPriority(ctx context.Context, id int64, priority int) error {
	return s.operate(ctx, verdict.ToPrioritize, id, func(t *txn, p *placed) error {
		if !verdict.Queued(p.state) {
			return t.must(1, t.sql.SetOrder, -priority, p.startBy, p.notBefore, id)
		}
		if err := t.leave(p); err != nil {
			return err
		}
		p.turn = -priority
		return t.reenter(p, t.now)
	})
}

// Delete removes a job.
func (s *Store) Delete(ctx context.Context, id int64) error {
	return s.operate(ctx, verdict.ToDelete, id, func(t *txn, p *placed) error {
		if err := t.needed(id); err != nil {
			return err
		}
		if err := t.noteDeleted(p); err != nil {
			return err
		}
		if err := t.leave(p); err != nil {
			return err
		}
		if err := t.giveBack(p); err != nil {
			return err
		}
		return t.forget([]int64{id})
	})
}

// needed returns an ErrConflict if a batch or a sweep has still to see how a job ends.
func (t *txn) needed(id int64) error {
	var batch, sweep sql.NullInt64
	if _, err := t.one(t.sql.NeededBy, []any{id}, &batch, &sweep); err != nil {
		return err
	}
	return sqlstore.Needed(id, batch.Int64, sweep.Int64)
}

// noteDeleted notes how a run has ended whose job is about to be deleted, for its
// schedule, if that was not told of it: one that never began counts as cancelled.
func (t *txn) noteDeleted(p *placed) error {
	if p.flags&sqlstore.FlagFire == 0 {
		return nil
	}
	_, err := t.exec(t.sql.NoteDeleted, string(sqlstore.StateOfDeleted(p.state)), p.id)
	return err
}

// forget removes jobs that have left their places.
func (t *txn) forget(ids []int64) error {
	list := idList(ids)
	for _, query := range []string{t.sql.DeleteKeys, t.sql.DeleteMemos, t.sql.DeleteAttempts, t.sql.DeleteFires} {
		if _, err := t.exec(query, list); err != nil {
			return err
		}
	}
	return t.must(int64(len(ids)), t.sql.DeleteJobs, list)
}
