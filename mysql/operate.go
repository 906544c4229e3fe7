package mysql

import (
	"context"
	"fmt"

	"github.com/fairlead-io/fairlead"
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

// Operate implements what sqlstore needs to do something to one job.
func (d database) Operate(ctx context.Context, id int64, op *verdict.Operation) error {
	return d.Store.operate(sqlstore.MayWait(ctx), string(op.Op), id, func(ctx context.Context, t *txn, p *placed, m *moves) error {
		if err := t.aim(ctx, map[int64]*placed{id: p}, m, op); err != nil {
			return err
		}
		return t.act(ctx, p, m, op)
	})
}

// act does something to a job that is locked. What refuses it comes before the first
// change: a transaction that acts upon many jobs goes on.
func (t *txn) act(ctx context.Context, p *placed, m *moves, op *verdict.Operation) error {
	if err := op.PermitSeen(p.id, p.state, p.fence); err != nil {
		return err
	}
	switch op.Op {
	case fairlead.OpCancel:
		return t.cancel(ctx, p, m, op.Reason)
	case fairlead.OpReopen:
		return t.reopen(ctx, p, m)
	case fairlead.OpReschedule:
		return t.reschedule(ctx, p, m, sqlstore.Micros(op.NotBefore))
	case fairlead.OpRunNow:
		if verdict.Moot(op.Op, p.state) {
			return nil
		}
		return t.awaitNow(ctx, p, m)
	case fairlead.OpSetPriority:
		return t.prioritize(ctx, p, m, int64(-op.Priority))
	case fairlead.OpSetQueue:
		return t.moveTo(ctx, p, m)
	case fairlead.OpDelete:
		return t.deleteJob(ctx, p, m)
	}
	return fmt.Errorf("unknown action %q", op.Op)
}

// cancel ends a job, or asks it to stop if it is running.
func (t *txn) cancel(ctx context.Context, p *placed, m *moves, reason string) error {
	if verdict.Asked(p.state) {
		return t.wish(ctx, p, reason)
	}
	next := verdict.Cancel(reason)
	m.become(p, &next)
	return nil
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

// reopen makes a failed or cancelled job ready or parked again.
func (t *txn) reopen(ctx context.Context, p *placed, m *moves) error {
	if err := t.permitReopen(ctx, p, m); err != nil {
		return err
	}
	if err := t.retakeKey(ctx, p); err != nil {
		return err
	}
	p.failures, p.crashes = 0, 0
	if p.flags&sqlstore.FlagFire != 0 {
		if _, err := t.exec(ctx, t.sql.ReopenFire, p.id); err != nil {
			return err
		}
		m.reopened = append(m.reopened, p.id)
	}
	return t.awaitNow(ctx, p, m)
}

// permitReopen returns the ErrConflict of a task of a batch, and of a run that its schedule has
// no room for. Runs that this transaction reopens are active, though they are moved later.
func (t *txn) permitReopen(ctx context.Context, p *placed, m *moves) error {
	var policy []byte
	if _, err := t.one(ctx, []any{&policy}, t.sql.PolicyOf, p.id); err != nil {
		return err
	}
	if err := sqlstore.PermitReopenOf(p.id, policy); err != nil || p.flags&sqlstore.FlagFire == 0 {
		return err
	}
	var id int64
	var name string
	var body []byte
	known, err := t.one(ctx, []any{&id}, t.sql.ScheduleOfRun, p.id)
	if err == nil && known {
		known, err = t.one(ctx, []any{&name, &body}, t.sql.LockDeclared, id)
	}
	if err != nil || !known {
		return err
	}
	active, err := t.openFires(ctx, id)
	if err != nil {
		return err
	}
	return sqlstore.PermitReopenRun(p.id, name, body, active, m.reopened...)
}

// awaitNow lets a job wait for its turn that is meant to run now, if not before.
func (t *txn) awaitNow(ctx context.Context, p *placed, m *moves) error {
	if times, changed := p.times().RunNow(m.now); changed {
		return t.reorder(ctx, p, p.at(times), m.now, m)
	}
	m.await(p, m.now)
	return nil
}

// reschedule sets when a job becomes due. Zero means now.
func (t *txn) reschedule(ctx context.Context, p *placed, m *moves, due int64) error {
	if due == 0 {
		due = m.now
	}
	if due > m.now {
		m.vacate(p)
	}
	return t.reorder(ctx, p, p.dueAt(due), due, m)
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

// prioritize changes the turn of a job.
func (t *txn) prioritize(ctx context.Context, p *placed, m *moves, turn int64) error {
	moved := *p
	moved.turn = turn
	if verdict.Queued(p.state) {
		return t.reorder(ctx, p, &moved, m.now, m)
	}
	_, err := t.exec(ctx, t.sql.SetOrder, moved.turn, p.startBy, p.notBefore, p.id)
	return err
}

// aim finds the lanes that jobs, which are locked, are about to be moved to. It looks at all
// of them together: a transaction that meets a lane which this process does not know, or which
// was retired, begins again, and does so only a few times.
func (t *txn) aim(ctx context.Context, jobs map[int64]*placed, m *moves, op *verdict.Operation) error {
	if op.Op != fairlead.OpSetQueue {
		return nil
	}
	var moved []*fairlead.Job
	for id, p := range jobs {
		names, err := t.laneKey(ctx, p.lane)
		if err != nil {
			return err
		}
		if names.Queue != op.Queue && op.Permit(id, p.state) == nil {
			moved = append(moved, &fairlead.Job{ID: id, Queue: op.Queue, Tenant: names.Tenant, Kind: names.Kind})
		}
	}
	guard, err := t.guardLanes(moved)
	if err == nil {
		_, err = t.clockAt(ctx, guard)
	}
	if err != nil {
		return err
	}
	m.targets = make(map[int64]int32, len(moved))
	for _, job := range moved {
		m.targets[job.ID] = guard.of(job)
	}
	return nil
}

// moveTo puts a job into the lane that it is aimed at, in the same state and order. A
// scheduled one is due when it was. One that is aimed at none is in the queue already.
func (t *txn) moveTo(ctx context.Context, p *placed, m *moves) error {
	target, aimed := m.targets[p.id]
	if !aimed {
		return nil
	}
	moved := *p
	moved.lane = target
	if err := t.must(ctx, 1, t.sql.SetLane, moved.lane, p.id); err != nil {
		return err
	}
	if !verdict.Queued(p.state) {
		return t.must(ctx, 1, t.sql.SetLaneLater, moved.lane, p.id)
	}
	m.leave(p)
	m.place(&moved, m.now)
	return nil
}

// deleteJob removes a job and all that is known of it.
func (t *txn) deleteJob(ctx context.Context, p *placed, m *moves) error {
	if err := t.needed(ctx, p.id); err != nil {
		return err
	}
	m.leave(p)
	m.vacate(p)
	if p.flags&sqlstore.FlagFire != 0 {
		if _, err := t.exec(ctx, t.sql.NoteDeleted, string(sqlstore.StateOfDeleted(p.state)), p.id); err != nil {
			return err
		}
		if _, err := t.execIDs(ctx, t.sql.DropFires, []int64{p.id}); err != nil {
			return err
		}
	}
	return t.forget(ctx, []int64{p.id})
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
