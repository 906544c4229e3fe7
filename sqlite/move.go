package sqlite

import (
	"database/sql"
	"fmt"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/internal/verdict"
)

// placed is a job as the moves see it: what decides its order, where it is,
// and how it stands.
type placed struct {
	id                            int64
	lane                          int32
	turn                          int
	startBy, notBefore, createdAt int64
	key                           string
	flags                         int16
	gate                          int64 // 0: none
	admitted                      bool  // it has a place at its gate

	state                      fairlead.State
	fence, node                int64
	attempt, failures, crashes int
	startedAt, deadline        int64
	retryAfter                 int64          // while waiting: sqlstore.RetryOf has it
	wish, answer               sql.NullString // while running
	reason                     fairlead.Reason
	err                        string
	output                     []byte
}

// locate finds a job wherever it is.
func (t *txn) locate(id int64) (*placed, error) {
	p := placed{id: id}
	found, err := t.one(t.sql.Locate, []any{id},
		&p.lane, &p.turn, &p.startBy, &p.notBefore, &p.createdAt, &p.key, &p.flags, &p.gate, &p.admitted,
		&p.state, &p.fence, &p.node, &p.attempt, &p.failures, &p.crashes, &p.startedAt,
		&p.deadline, &p.retryAfter, &p.wish, &p.answer, &p.reason, &p.err, &p.output)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, driver.NoSuchJob(id)
	}
	return &p, nil
}

// leave takes the job out of its place.
func (t *txn) leave(p *placed) error {
	switch p.state {
	case fairlead.Scheduled:
		return t.must(1, t.sql.LeaveLater, p.id)
	case fairlead.Ready:
		t.leftReady(p.lane)
		return t.must(1, t.sql.LeaveReady, p.lane, p.turn, p.startBy, p.id)
	case fairlead.Parked:
		return t.must(1, t.sql.LeaveParked, p.gate, p.turn, p.startBy, p.id)
	case fairlead.Running:
		t.freed()
		return t.must(1, t.sql.LeaveRunning, p.id)
	case fairlead.Waiting:
		t.freed()
		return t.must(1, t.sql.LeaveWaiting, p.id)
	}
	if p.state.Final() {
		return t.must(1, t.sql.LeaveDone, p.id)
	}
	return fmt.Errorf("job %d is in no table", p.id)
}

// leftReady tells that a job of a lane is not ready any more. The writer
// remembers which are; a caller's transaction can only make it read them anew.
func (t *txn) leftReady(lane int32) {
	if t.laneHeads != nil {
		t.laneHeads.touch(lane)
	} else {
		t.wakes.all = true
	}
}

// await moves the job to where it waits for its next run.
func (t *txn) await(p *placed, due int64) error {
	if err := t.leave(p); err != nil {
		return err
	}
	return t.enter(p, due)
}

// enter puts a job that was taken out into later if it is not due yet, else into
// ready, or into parked if it has to pass its gate first.
func (t *txn) enter(p *placed, due int64) error {
	switch verdict.Where(due <= t.now, p.gate != 0, p.admitted) {
	case fairlead.Scheduled:
		t.wakes.later = true
		return t.must(1, t.sql.ToLater, p.id, p.lane, due, p.attempt, p.failures, p.crashes)
	case fairlead.Parked:
		t.noteGate(p.gate)
		return t.must(1, t.sql.ToParked, p.gate, p.turn, p.startBy, p.id, p.lane, p.attempt, p.failures, p.crashes)
	}
	lane, err := t.laneNamed(p.lane)
	if err != nil {
		return err
	}
	t.wakes.addWork(p.lane, lane)
	return t.must(1, t.sql.ToReady, p.lane, solo(p.crashes), p.turn, p.startBy, p.id, p.attempt, p.failures, p.crashes)
}

// solo is the column of a ready job: 1 for a suspect.
func solo(crashes int) int {
	if verdict.Suspect(crashes) {
		return 1
	}
	return 0
}

// suspend moves the job to waiting.
func (t *txn) suspend(p *placed, deadline, retryAfter int64) error {
	if err := t.leave(p); err != nil {
		return err
	}
	return t.must(1, t.sql.ToWaiting, p.id, p.fence, p.node, p.lane, p.attempt, p.failures, p.crashes, p.startedAt, deadline, retryAfter)
}

// end is how a job ends.
type end struct {
	outcome int
	reason  fairlead.Reason
	err     string
	output  []byte
}

// finish moves the job to done, and gives back its place at its gate and its key
// unless that is held forever.
func (t *txn) finish(p *placed, e end) error {
	if err := t.leave(p); err != nil {
		return err
	}
	if p.key != "" {
		if _, err := t.exec(t.sql.FreeKeys, idList([]int64{p.id})); err != nil {
			return err
		}
	}
	if err := t.giveBack(p); err != nil {
		return err
	}
	return t.must(1, t.sql.ToDone, p.id, p.lane, e.outcome, text(e.reason), p.fence, p.node, p.attempt, p.failures, p.crashes,
		p.startedAt, t.now, text(e.output), text(sqlstore.CleanText(e.err)))
}

// record adds the run that ends now to the job's history.
func (t *txn) record(p *placed, reason fairlead.Reason, err string) error {
	return t.must(1, t.sql.Record, p.id, p.attempt, p.fence, p.node, p.startedAt, t.now, string(reason), sqlstore.CleanText(err))
}

// keep stores memo and progress unless both are nil.
func (t *txn) keep(id int64, memo, progress []byte) error {
	if memo == nil && progress == nil {
		return nil
	}
	return t.must(1, t.sql.Keep, id, text(memo), text(progress))
}
