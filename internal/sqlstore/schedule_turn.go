package sqlstore

import (
	"context"

	"github.com/fairlead-io/fairlead/schedule"
)

// ScheduleTurn is one transaction that takes schedules, decides about them and carries out the
// plans. Its results are valid if Scheduling.ActOnSchedules has returned no error.
type ScheduleTurn struct {
	Brief bool // waits only briefly for locks of other transactions
	Many  bool // acts on all schedules that are due, not on a given one

	of     *tickStore
	take   func(ctx context.Context, t *scheduleTx) error
	decide schedule.Decision
	finish func(db DB) // queues the last statements; may be nil

	tx      *scheduleTx
	outcome schedule.Outcome
}

// Do performs the turn in a transaction, apart from its commit. It may run several times.
func (t *ScheduleTurn) Do(ctx context.Context, db RunTx) (err error) {
	t.tx = &scheduleTx{db: db, sql: t.of.sql, bodies: &t.of.keep.bodies, seen: map[int64]int64{}, lost: map[int64]bool{}}
	t.outcome = schedule.Outcome{}
	if err := t.take(ctx, t.tx); err != nil {
		return err
	}
	if t.Brief {
		if err := db.WaitBriefly(ctx); err != nil {
			return err
		}
	}
	if t.outcome, err = schedule.CarryOut(ctx, t.tx, t.decide); err != nil {
		return err
	}
	if t.finish != nil {
		t.finish(db)
	}
	return nil
}

// Locked returns the LockedError of a transaction that has waited too long for a lock.
func (t *ScheduleTurn) Locked(err error) error { return Locked(err, t.outcome, t.tx.ids()) }

// ticked returns the turn's part of a tick's result.
func (t *ScheduleTurn) ticked() schedule.Ticked {
	return schedule.Ticked{Schedules: t.outcome.Schedules, Runs: len(t.outcome.Fires)}
}
