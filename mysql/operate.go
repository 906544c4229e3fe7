package mysql

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// operate locks a job wherever it is and lets f decide what becomes of it.
func (s *Store) operate(ctx context.Context, verb string, id int64, f func(ctx context.Context, t *txn, p *placed, m *moves) error) error {
	return s.inTx(ctx, verb, func(ctx context.Context, t *txn) error {
		p, err := t.locate(ctx, id)
		if err != nil {
			return err
		}
		now, err := t.clock(ctx)
		if err != nil {
			return err
		}
		m := moves{now: now}
		if err := f(ctx, t, p, &m); err != nil {
			return err
		}
		return t.write(ctx, &m)
	})
}

// Cancel ends a job, or asks it to stop if it is running.
func (s *Store) Cancel(ctx context.Context, id int64, reason string) error {
	ctx = sqlstore.MayWait(ctx)
	return s.operate(ctx, "cancel", id, func(ctx context.Context, t *txn, p *placed, m *moves) error {
		switch {
		case p.state.Final():
			return driver.IllegalMove("cancel", id, p.state)
		case p.state == fairlead.Running:
			return t.wish(ctx, p, reason)
		}
		m.finish(p, end{outcome: sqlstore.OutcomeCancelled, err: reason}, true)
		return nil
	})
}

// wish asks a running job to stop.
func (t *txn) wish(ctx context.Context, p *placed, reason string) error {
	if _, err := t.exec(ctx, t.sql.Wish, sqlstore.CleanText(reason), p.id); err != nil {
		return err
	}
	t.wakes.cancel = true
	_, err := t.exec(ctx, t.sql.CountWish, sqlstore.VersionStep())
	return err
}

// Reopen makes a failed or cancelled job ready or parked again.
func (s *Store) Reopen(ctx context.Context, id int64) error {
	ctx = sqlstore.MayWait(ctx)
	return s.operate(ctx, "reopen", id, func(ctx context.Context, t *txn, p *placed, m *moves) error {
		if p.state != fairlead.Failed && p.state != fairlead.Cancelled {
			return driver.IllegalMove("reopen", id, p.state)
		}
		if err := t.retakeKey(ctx, p); err != nil {
			return err
		}
		p.failures, p.crashes = 0, 0
		if p.flags&sqlstore.FlagFire != 0 {
			return t.reopenRun(ctx, p, m)
		}
		m.await(p, m.now)
		return nil
	})
}

// reopenRun reopens a job that is a run of a schedule. One that was queued when it
// ended is due now.
func (t *txn) reopenRun(ctx context.Context, p *placed, m *moves) error {
	if _, err := t.exec(ctx, t.sql.ReopenFire, p.id); err != nil {
		return err
	}
	if p.notBefore == sqlstore.Micros(fairlead.Never) {
		return t.reorder(ctx, p, p.dueAt(m.now), m.now, m)
	}
	m.await(p, m.now)
	return nil
}

// Reschedule sets when a job becomes due.
func (s *Store) Reschedule(ctx context.Context, id int64, notBefore time.Time) error {
	ctx = sqlstore.MayWait(ctx)
	return s.operate(ctx, "reschedule", id, func(ctx context.Context, t *txn, p *placed, m *moves) error {
		if p.state != fairlead.Scheduled && p.state != fairlead.Parked && p.state != fairlead.Ready {
			return driver.IllegalMove("reschedule", id, p.state)
		}
		due := sqlstore.Micros(notBefore)
		if due == 0 {
			due = m.now
		}
		if due > m.now {
			m.vacate(p)
		}
		return t.reorder(ctx, p, p.dueAt(due), due, m)
	})
}

// dueAt is the job with another due time. StartBy moves along if it was the due
// time.
func (p *placed) dueAt(due int64) *placed {
	was := p.notBefore
	if was == 0 {
		was = p.createdAt
	}
	moved := *p
	moved.notBefore = due
	if p.startBy == was {
		moved.startBy = due
	}
	return &moved
}

// reorder changes what decides when a job has its turn, together with its
// place.
func (t *txn) reorder(ctx context.Context, p, moved *placed, due int64, m *moves) error {
	m.leave(p)
	m.place(moved, due)
	_, err := t.exec(ctx, t.sql.SetOrder, moved.turn, moved.startBy, moved.notBefore, p.id)
	return err
}

// RunNow makes a scheduled job ready or parked at once. One that was not due yet becomes
// due now; one that backs off has been due before.
func (s *Store) RunNow(ctx context.Context, id int64) error {
	ctx = sqlstore.MayWait(ctx)
	return s.operate(ctx, "run", id, func(ctx context.Context, t *txn, p *placed, m *moves) error {
		switch {
		case p.state == fairlead.Ready || p.state == fairlead.Parked:
			return nil
		case p.state != fairlead.Scheduled:
			return driver.IllegalMove("run", id, p.state)
		case p.notBefore > m.now:
			return t.reorder(ctx, p, p.dueAt(m.now), m.now, m)
		}
		m.await(p, m.now)
		return nil
	})
}

// SetPriority changes the priority of a job.
func (s *Store) SetPriority(ctx context.Context, id int64, priority int) error {
	ctx = sqlstore.MayWait(ctx)
	return s.operate(ctx, "set the priority of", id, func(ctx context.Context, t *txn, p *placed, m *moves) error {
		if p.state.Final() {
			return driver.IllegalMove("set the priority of", id, p.state)
		}
		moved := *p
		moved.turn = int64(-priority)
		if p.state == fairlead.Ready || p.state == fairlead.Parked {
			return t.reorder(ctx, p, &moved, m.now, m)
		}
		_, err := t.exec(ctx, t.sql.SetOrder, moved.turn, p.startBy, p.notBefore, id)
		return err
	})
}

// Delete removes a job and all that is known of it.
func (s *Store) Delete(ctx context.Context, id int64) error {
	ctx = sqlstore.MayWait(ctx)
	return s.operate(ctx, "delete", id, func(ctx context.Context, t *txn, p *placed, m *moves) error {
		if p.state == fairlead.Running || p.state == fairlead.Waiting {
			return driver.IllegalMove("delete", id, p.state)
		}
		if err := t.needed(ctx, id); err != nil {
			return err
		}
		m.leave(p)
		m.vacate(p)
		if p.flags&sqlstore.FlagFire != 0 {
			if _, err := t.exec(ctx, t.sql.NoteDeleted, string(sqlstore.StateOfDeleted(p.state)), id); err != nil {
				return err
			}
			if _, err := t.execIDs(ctx, t.sql.DropFires, []int64{id}); err != nil {
				return err
			}
		}
		return t.forget(ctx, []int64{id})
	})
}

// forget removes all that is known of jobs but their places.
func (t *txn) forget(ctx context.Context, ids []int64) error {
	if _, err := t.freeKeys(ctx, ids, true); err != nil {
		return err
	}
	for _, statement := range []string{t.sql.DropAttempts, t.sql.DropMemos, t.sql.DropJobs} {
		if _, err := t.execIDs(ctx, statement, ids); err != nil {
			return err
		}
	}
	return nil
}
