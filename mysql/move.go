package mysql

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/internal/verdict"
)

// placed is a job as the moves see it: what decides its order, where it is,
// and how it stands. Its row in its place is locked.
type placed struct {
	id                            int64
	lane                          int32
	turn                          int64
	startBy, notBefore, createdAt int64
	key                           string
	flags                         int16
	gate                          int64 // 0 if it has none

	state                      fairlead.State
	admitted                   bool // while scheduled: whether it has a place at its gate
	queued                     bool // while scheduled: whether it waits for an earlier run of its schedule
	solo                       int64
	fence, node                int64
	attempt, failures, crashes int64
	startedAt, deadline        int64
	retryAfter                 int64          // while waiting: sqlstore.RetryOf has it
	set                        int32          // of limits, while running or waiting
	wish, answer               sql.NullString // while running
	reason                     fairlead.Reason
	err                        string
	output                     []byte
}

// moves are the changes of a transaction, collected so that many jobs cost few
// statements.
type moves struct {
	now int64 // read after the locks

	fromLater, fromRunning, fromWaiting, fromDone []int64
	fromReady, fromParked                         []*placed

	later, ready, parked, waiting, done tuples
	attempts, memos, released           tuples
	freed                               []int64         // jobs that have ended: they give back their keys and places
	vacated                             []place         // that other jobs give back
	gates                               gateSet         // at which jobs are parked
	slots                               map[int32]int   // jobs that give back their slots, by set of limits
	targets                             map[int64]int32 // lanes that jobs are moved to, by job
	reopened                            []int64         // runs of schedules that are active from here on
	news                                wakes
}

// leave takes the job out of its place. It counts against no limit any more.
func (m *moves) leave(p *placed) {
	m.exit(p)
	if p.set == noSet {
		return
	}
	if m.slots == nil {
		m.slots = map[int32]int{}
	}
	m.slots[p.set]++
}

// exit takes the job out of its place.
func (m *moves) exit(p *placed) {
	switch p.state {
	case fairlead.Scheduled:
		m.fromLater = append(m.fromLater, p.id)
	case fairlead.Ready:
		m.fromReady = append(m.fromReady, p)
	case fairlead.Parked:
		m.fromParked = append(m.fromParked, p)
	case fairlead.Running:
		m.fromRunning = append(m.fromRunning, p.id)
	case fairlead.Waiting:
		m.fromWaiting = append(m.fromWaiting, p.id)
	default:
		m.fromDone = append(m.fromDone, p.id)
	}
}

// vacate takes the place at its gate from a job that has one.
func (m *moves) vacate(p *placed) {
	if p.hasPlace() {
		m.vacated = append(m.vacated, place{p.gate, p.id})
	}
}

// await moves the job to ready or parked if it is due, else to later.
func (m *moves) await(p *placed, due int64) {
	m.leave(p)
	m.place(p, due)
}

// place puts a job that has left its place into later if it is not due, into
// parked if it still has to pass its gate, else into ready.
func (m *moves) place(p *placed, due int64) {
	switch verdict.Where(due <= m.now, p.gate != 0, p.hasPlace()) {
	case fairlead.Scheduled:
		m.later.add().ints(p.id, int64(p.lane), due, p.attempt, p.failures, p.crashes).end()
		m.news.later = true
	case fairlead.Parked:
		m.parked.add().ints(p.gate, p.turn, p.startBy, p.id, int64(p.lane), p.attempt, p.failures, p.crashes).end()
		m.gates.add(p.gate)
	default: // ready
		m.ready.add().ints(int64(p.lane), solo(p.crashes), p.turn, p.startBy, p.id, p.attempt, p.failures, p.crashes).end()
		m.news.addWork(p.lane)
	}
}

// solo is the column of a ready job: 1 for a suspect.
func solo(crashes int64) int64 {
	if verdict.Suspect(int(crashes)) {
		return 1
	}
	return 0
}

// suspend moves the job to waiting, where it counts against the same limits.
func (m *moves) suspend(p *placed, deadline, retryAfter int64) {
	m.exit(p)
	m.waiting.add().ints(p.id, p.fence, p.node, int64(p.lane), p.attempt, p.failures, p.crashes, p.startedAt, int64(p.set), deadline, retryAfter).end()
}

// end is how a job ends.
type end struct {
	outcome int64
	reason  fairlead.Reason
	err     string
	output  []byte
}

// finish moves the job to done. Without freeKey the job keeps its key: the key is held
// forever, or the caller does not say that the job has one.
func (m *moves) finish(p *placed, e end, freeKey bool) {
	m.leave(p)
	m.ended(p, e)
	if freeKey {
		m.freed = append(m.freed, p.id)
	}
}

// ended puts a job that has left its place, or is new, into done.
func (m *moves) ended(p *placed, e end) {
	m.done.add().ints(p.id, int64(p.lane), e.outcome).blob([]byte(e.reason)).
		ints(p.fence, p.node, p.attempt, p.failures, p.crashes, p.startedAt, m.now).
		blob(e.output).blob([]byte(sqlstore.CleanText(e.err))).end()
}

// record adds the run that ends now to the job's history.
func (m *moves) record(p *placed, reason fairlead.Reason, err string) {
	m.attempts.add().ints(p.id, p.attempt, p.fence, p.node, p.startedAt, m.now).
		str(string(reason)).str(sqlstore.CleanText(err)).end()
}

// remember keeps memo and progress; nil leaves what there was.
func (m *moves) remember(id int64, memo, progress []byte) {
	if len(memo) > 0 || len(progress) > 0 {
		m.memos.add().int(id).blob(memo).blob(progress).end()
	}
}

// write makes the changes. Every row that leaves its place was locked, so that
// each deletion hits.
func (t *txn) write(ctx context.Context, m *moves) error {
	for _, from := range []struct {
		place string
		ids   []int64
	}{
		{t.sql.LeaveLater, m.fromLater},
		{t.sql.LeaveRunning, m.fromRunning},
		{t.sql.LeaveWaiting, m.fromWaiting},
		{t.sql.LeaveDone, m.fromDone},
	} {
		left, err := t.execIDs(ctx, from.place, from.ids)
		if err := checkHits(len(from.ids), left, err); err != nil {
			return err
		}
	}
	for _, p := range m.fromReady {
		if err := t.must(ctx, 1, t.sql.LeaveReadyOne, p.lane, p.solo, p.turn, p.startBy, p.id); err != nil {
			return err
		}
	}
	if err := t.leaveParked(ctx, m.fromParked); err != nil {
		return err
	}
	for _, to := range []struct {
		place string
		rows  *tuples
	}{
		{t.sql.ToLater, &m.later},
		{t.sql.ToReady, &m.ready},
		{t.sql.ToParked, &m.parked},
		{t.sql.ToWaiting, &m.waiting},
		{t.sql.ToDone, &m.done},
		{t.sql.Record, &m.attempts},
		{t.sql.Remember, &m.memos},
		{t.sql.MarkReleased, &m.released},
	} {
		if err := t.insert(ctx, to.place, to.rows); err != nil {
			return err
		}
	}
	gated, err := t.freeKeys(ctx, m.freed, false)
	if err != nil {
		return fmt.Errorf("release keys: %w", err)
	}
	if err := t.vacate(ctx, append(m.vacated, gated...), &m.gates); err != nil {
		return fmt.Errorf("release places: %w", err)
	}
	if err := t.post(ctx, m.gates); err != nil {
		return fmt.Errorf("post wakes of gates: %w", err)
	}
	if err := t.free(ctx, m.slots); err != nil {
		return fmt.Errorf("release slots: %w", err)
	}
	t.wakes.add(&m.news)
	return nil
}
