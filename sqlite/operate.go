package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/internal/verdict"
)

// Operate implements what sqlstore needs to do something to one job.
func (d database) Operate(ctx context.Context, id int64, op *verdict.Operation) error {
	_, err := inTx(ctx, d.Store, string(op.Op), func(t *txn) (none, error) { return none{}, t.operate(id, op) })
	return err
}

// operate does something to one job, wherever it is. Nothing can move it between finding
// and doing: there is one writer at a time. What refuses it comes before the first
// change: the transaction, which others may share, goes on.
func (t *txn) operate(id int64, op *verdict.Operation) error {
	p, err := t.locate(id)
	if err != nil {
		return err
	}
	if err := op.PermitSeen(id, p.state, p.fence); err != nil {
		return err
	}
	switch op.Op {
	case fairlead.OpCancel:
		return t.cancel(p, op.Reason)
	case fairlead.OpReopen:
		return t.reopen(p)
	case fairlead.OpReschedule:
		return t.reschedule(p, sqlstore.Micros(op.NotBefore))
	case fairlead.OpRunNow:
		return t.runNow(p)
	case fairlead.OpSetPriority:
		return t.prioritize(p, -op.Priority)
	case fairlead.OpSetQueue:
		return t.moveTo(p, op.Queue)
	case fairlead.OpDelete:
		return t.deleteJob(p)
	}
	return fmt.Errorf("unknown action %q", op.Op)
}

// cancel ends a job, or asks a running one to stop.
func (t *txn) cancel(p *placed, reason string) error {
	if verdict.Asked(p.state) {
		t.wakes.cancel = true
		return t.must(1, t.sql.Wish, reason, p.id)
	}
	next := verdict.Cancel(reason)
	return t.become(p, &next)
}

// reopen makes a failed or cancelled job ready or parked again.
func (t *txn) reopen(p *placed) error {
	if err := t.permitReopen(p); err != nil {
		return err
	}
	if err := t.takeKey(p); err != nil {
		return err
	}
	if p.flags&sqlstore.FlagFire != 0 {
		if _, err := t.exec(t.sql.ReopenFire, p.id); err != nil {
			return err
		}
	}
	p.failures, p.crashes = 0, 0
	return t.awaitNow(p)
}

// permitReopen returns the ErrConflict of a task of a batch, and of a run that its schedule has
// no room for.
func (t *txn) permitReopen(p *placed) error {
	var policy []byte
	if _, err := t.one(t.sql.PolicyOf, []any{p.id}, &policy); err != nil {
		return err
	}
	if err := sqlstore.PermitReopenOf(p.id, policy); err != nil || p.flags&sqlstore.FlagFire == 0 {
		return err
	}
	var id int64
	var name string
	var body []byte
	lives, err := t.one(t.sql.DeclaredOfRun, []any{p.id}, &id, &name, &body)
	if err != nil || !lives {
		return err
	}
	active, err := t.openFires([]int64{id})
	if err != nil {
		return err
	}
	return sqlstore.PermitReopenRun(p.id, name, body, active)
}

// reschedule sets when a job becomes due. Zero means now.
func (t *txn) reschedule(p *placed, due int64) error {
	if due == 0 {
		due = t.now
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

// runNow lets a job run that waits for its time.
func (t *txn) runNow(p *placed) error {
	if verdict.Moot(fairlead.OpRunNow, p.state) {
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

// prioritize changes the turn of a job.
func (t *txn) prioritize(p *placed, turn int) error {
	if !verdict.Queued(p.state) {
		return t.must(1, t.sql.SetOrder, turn, p.startBy, p.notBefore, p.id)
	}
	if err := t.leave(p); err != nil {
		return err
	}
	p.turn = turn
	return t.reenter(p, t.now)
}

// moveTo puts a job into another queue, in the same state and order. A scheduled one is
// due when it was.
func (t *txn) moveTo(p *placed, queue string) error {
	names, err := t.laneNamed(p.lane)
	if err != nil || names.Queue == queue {
		return err
	}
	names.Queue = queue
	lane, err := t.laneOf(names)
	if err != nil {
		return err
	}
	if err := t.must(1, t.sql.SetLane, lane, p.id); err != nil {
		return err
	}
	if !verdict.Queued(p.state) {
		return t.must(1, t.sql.SetLaneLater, lane, p.id)
	}
	if err := t.leave(p); err != nil {
		return err
	}
	p.lane = lane
	return t.enter(p, t.now)
}

// deleteJob removes a job and all that is known of it.
func (t *txn) deleteJob(p *placed) error {
	if err := t.needed(p.id); err != nil {
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
	return t.forget([]int64{p.id})
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
