package mysql

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/internal/verdict"
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

// act lets f carry out an action, unless the job's state forbids it.
func (s *Store) act(ctx context.Context, action verdict.Action, id int64, f func(ctx context.Context, t *txn, p *placed, m *moves) error) error {
	return s.operate(ctx, string(action), id, func(ctx context.Context, t *txn, p *placed, m *moves) error {
		if err := action.Permit(id, p.state); err != nil {
			return err
		}
		return f(ctx, t, p, m)
	})
}

// Cancel ends a job, or asks it to stop if it is running.
func (s *Store) Cancel(ctx context.Context, id int64, reason string) error {
	ctx = sqlstore.MayWait(ctx)
	return s.act(ctx, verdict.ToCancel, id, func(ctx context.Context, t *txn, p *placed, m *moves) error {
		if verdict.Asked(p.state) {
			return t.wish(ctx, p, reason)
		}
		next := verdict.Cancel(reason)
		m.become(p, &next)
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
	return s.act(ctx, verdict.ToReopen, id, func(ctx context.Context, t *txn, p *placed, m *moves) error {
		if err := t.retakeKey(ctx, p); err != nil {
			return err
		}
		p.failures, p.crashes = 0, 0
		if p.flags&sqlstore.FlagFire != 0 {
			if _, err := t.exec(ctx, t.sql.ReopenFire, p.id); err != nil {
				return err
			}
		}
		return t.awaitNow(ctx, p, m)
	})
}

// awaitNow lets a job wait for its turn that is meant to run now, if not before.
func (t *txn) awaitNow(ctx context.Context, p *placed, m *moves) error {
	if times, changed := p.times().RunNow(m.now); changed {
		return t.reorder(ctx, p, p.at(times), m.now, m)
	}
	m.await(p, m.now)
	return nil
}

// Reschedule sets when a job becomes due.
func (s *Store) Reschedule(ctx context.Context, id int64, notBefore time.Time) error {
	ctx = sqlstore.MayWait(ctx)
	return s.act(ctx, verdict.ToReschedule, id, func(ctx context.Context, t *txn, p *placed, m *moves) error {
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

// dueAt is the job with another due time.
func (p *placed) dueAt(due int64) *placed {
	return p.at(p.times().MeantFor(due))
}

func (p *placed) times() verdict.Times {
	return verdict.Times{StartBy: p.startBy, NotBefore: p.notBefore, CreatedAt: p.createdAt}
}

// at is the job with other times.
func (p *placed) at(times verdict.Times) *placed {
	moved := *p
	moved.startBy, moved.notBefore = times.StartBy, times.NotBefore
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

// RunNow makes a scheduled job ready or parked at once.
func (s *Store) RunNow(ctx context.Context, id int64) error {
	ctx = sqlstore.MayWait(ctx)
	return s.act(ctx, verdict.ToRun, id, func(ctx context.Context, t *txn, p *placed, m *moves) error {
		if verdict.ToRun.Moot(p.state) {
			return nil
		}
		return t.awaitNow(ctx, p, m)
	})
}

// SetPriority changes the priority of a job.
func (s *Store) SetPriority(ctx context.Context, id int64, priority int) error {
	ctx = sqlstore.MayWait(ctx)
	return s.act(ctx, verdict.ToPrioritize, id, func(ctx context.Context, t *txn, p *placed, m *moves) error {
		moved := *p
		moved.turn = int64(-priority)
		if verdict.Queued(p.state) {
			return t.reorder(ctx, p, &moved, m.now, m)
		}
		_, err := t.exec(ctx, t.sql.SetOrder, moved.turn, p.startBy, p.notBefore, id)
		return err
	})
}

// Delete removes a job and all that is known of it.
func (s *Store) Delete(ctx context.Context, id int64) error {
	ctx = sqlstore.MayWait(ctx)
	return s.act(ctx, verdict.ToDelete, id, func(ctx context.Context, t *txn, p *placed, m *moves) error {
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
