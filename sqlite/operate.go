package sqlite

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// operate does something to one job, wherever it is. Nothing can move it
// between finding and doing: there is one writer at a time.
func (s *Store) operate(ctx context.Context, verb string, id int64, allowed []fairlead.State, do func(t *txn, p *placed) error) error {
	_, err := inTx(ctx, s, verb, func(t *txn) (none, error) {
		p, err := t.locate(id)
		if err != nil {
			return none{}, err
		}
		if !slices.Contains(allowed, p.state) {
			return none{}, driver.IllegalMove(verb, id, p.state)
		}
		return none{}, do(t, p)
	})
	return err
}

// pending are the states of jobs that wait to be started.
func pending() []fairlead.State {
	return []fairlead.State{fairlead.Scheduled, fairlead.Parked, fairlead.Ready}
}

func live() []fairlead.State { return append(pending(), fairlead.Running, fairlead.Waiting) }

// Cancel ends a job, or asks a running one to stop.
func (s *Store) Cancel(ctx context.Context, id int64, reason string) error {
	reason = sqlstore.CleanText(reason)
	return s.operate(ctx, "cancel", id, live(), func(t *txn, p *placed) error {
		if p.state == fairlead.Running {
			t.wakes.cancel = true
			return t.must(1, t.sql.Wish, reason, id)
		}
		return t.finish(p, end{outcome: sqlstore.OutcomeCancelled, err: reason})
	})
}

// Reopen makes a failed or cancelled job ready or parked again.
func (s *Store) Reopen(ctx context.Context, id int64) error {
	return s.operate(ctx, "reopen", id, []fairlead.State{fairlead.Failed, fairlead.Cancelled}, func(t *txn, p *placed) error {
		if err := t.takeKey(p); err != nil {
			return err
		}
		if p.flags&sqlstore.FlagFire != 0 {
			if _, err := t.exec(t.sql.ReopenFire, id); err != nil {
				return err
			}
		}
		p.failures, p.crashes = 0, 0
		return t.await(p, t.now)
	})
}

// Reschedule sets when a job becomes due. The zero time means now.
func (s *Store) Reschedule(ctx context.Context, id int64, notBefore time.Time) error {
	return s.operate(ctx, "reschedule", id, pending(), func(t *txn, p *placed) error {
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
		if p.startsWhenDue() {
			p.startBy = due
		}
		p.notBefore = due
		return t.reenter(p, due)
	})
}

// startsWhenDue reports whether the job's acceptable start is the time when it
// became or becomes due.
func (p *placed) startsWhenDue() bool {
	return p.startBy == p.notBefore || p.notBefore == 0 && p.startBy == p.createdAt
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
	return s.operate(ctx, "run", id, pending(), (*txn).runNow)
}

// runNow lets a job run that waits for its time. One that was not due yet becomes
// due now; one that was backing off stays due since it was.
func (t *txn) runNow(p *placed) error {
	if p.state != fairlead.Scheduled {
		return nil
	}
	if p.notBefore <= t.now {
		return t.await(p, t.now)
	}
	if err := t.leave(p); err != nil {
		return err
	}
	if p.startsWhenDue() {
		p.startBy = t.now
	}
	p.notBefore = t.now
	return t.reenter(p, t.now)
}

// SetPriority changes the priority of a job.
func (s *Store) SetPriority(ctx context.Context, id int64, priority int) error {
	return s.operate(ctx, "set the priority of", id, live(), func(t *txn, p *placed) error {
		if p.state != fairlead.Ready && p.state != fairlead.Parked {
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
	allowed := append(pending(), fairlead.Succeeded, fairlead.Failed, fairlead.Cancelled, fairlead.Skipped)
	return s.operate(ctx, "delete", id, allowed, func(t *txn, p *placed) error {
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
