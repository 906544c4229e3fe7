package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/envelope"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/internal/verdict"
)

// settleChunk is how many settlements one transaction takes at most.
const settleChunk = 1000

// Settle ends the runs of jobs and makes the moves that their handlers requested.
func (s *Store) Settle(ctx context.Context, settlements []fairlead.Settlement) ([]fairlead.Settled, error) {
	if err := verdict.CheckMoves(settlements); err != nil { // of all chunks, before the first is made
		return nil, fmt.Errorf("settle: %w", err)
	}
	answers := make([]fairlead.Settled, 0, len(settlements))
	for chunk := range slices.Chunk(settlements, settleChunk) {
		settled, err := s.settleBriefly(ctx, chunk)
		if err != nil {
			return nil, err
		}
		answers = append(answers, settled...)
	}
	s.commits.Ended(settlements, answers)
	return answers, nil
}

// settleOnce settles what no other transaction holds, and answers held for the rest.
func (s *Store) settleOnce(ctx context.Context, settlements []fairlead.Settlement) ([]fairlead.Settled, error) {
	work, err := s.settling(ctx, settlements)
	if err != nil {
		return nil, err
	}
	err = s.inTx(ctx, "settle", func(ctx context.Context, t *txn) error {
		if err := t.renewReplacements(ctx, work); err != nil {
			return err
		}
		return t.settle(ctx, work)
	})
	if err != nil {
		return nil, err
	}
	return work.hand(), nil
}

// settling is a call of Settle while it is being done.
type settling struct {
	asked     []fairlead.Settlement
	answers   []fairlead.Settled
	replaced  *reservation  // for the jobs of Replace that can be stored; nil if there are none
	positions []int         // theirs
	reserved  map[int]int64 // their ids, by position
	stored    map[int]int64 // ids that they got
}

// settling checks the settlements and gets what their replacements need.
func (s *Store) settling(ctx context.Context, settlements []fairlead.Settlement) (*settling, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	work := &settling{asked: settlements, reserved: map[int]int64{}}
	var jobs []*fairlead.Job
	for i := range settlements {
		if job := settlements[i].Replace; verdict.Replaces(&settlements[i]) && envelope.NormalizeJobs([]*fairlead.Job{job}) == nil {
			jobs, work.positions = append(jobs, job), append(work.positions, i)
		}
	}
	if len(jobs) == 0 {
		return work, nil
	}
	var err error
	if work.replaced, err = s.reserve(ctx, jobs); err != nil {
		return nil, fmt.Errorf("settle: %w", err)
	}
	return work, nil
}

// renewReplacements gives the jobs of Replace their ids, others than before if the
// server is another one by now.
func (s *Store) renewReplacements(ctx context.Context, work *settling) error {
	if work.replaced == nil {
		return nil
	}
	if err := work.replaced.renew(ctx); err != nil {
		return err
	}
	for n, i := range work.positions {
		work.reserved[i] = work.replaced.ids[n]
	}
	return nil
}

// hand gives the answers, and the ids of what was stored, to the caller.
func (w *settling) hand() []fairlead.Settled {
	for i, id := range w.stored {
		w.asked[i].Replace.ID = id
	}
	return w.answers
}

// plainGroup is how many plain successes of one fence are worth statements of
// their own.
const plainGroup = 8

// settle does all settlements of a call: plain successes by the fence, the
// others by what their locked rows say, those with a replacement one by one. In a
// caller's transaction none goes by the fence: that does not tell which were made
// in it.
func (t *txn) settle(ctx context.Context, w *settling) error {
	w.answers, w.stored = make([]fairlead.Settled, len(w.asked)), map[int]int64{}
	plain := map[int64][]int{}
	var others, replacing []int
	for i := range w.asked {
		switch s := &w.asked[i]; {
		case verdict.Replaces(s):
			replacing = append(replacing, i)
		case verdict.Plain(s) && !t.callers:
			plain[s.Fence] = append(plain[s.Fence], i)
		default:
			others = append(others, i)
		}
	}
	for fence, positions := range plain {
		if len(positions) < plainGroup {
			others = append(others, positions...)
			continue
		}
		if err := t.succeed(ctx, w, fence, positions); err != nil {
			return err
		}
	}
	if len(others) > 0 {
		slices.Sort(others)
		if _, err := t.settleEach(ctx, w, others); err != nil {
			return err
		}
	}
	for _, i := range replacing {
		if err := t.settleReplacing(ctx, w, i); err != nil {
			return err
		}
	}
	return nil
}

func idsAt(asked []fairlead.Settlement, positions []int) []int64 {
	ids := make([]int64, len(positions))
	for n, i := range positions {
		ids[n] = asked[i].ID
	}
	return ids
}

// succeed ends plain successes of one fence without looking at their rows. It passes over
// those that another transaction holds.
func (t *txn) succeed(ctx context.Context, w *settling, fence int64, positions []int) error {
	ids := idsAt(w.asked, positions)
	slices.Sort(ids)
	ended, err := t.execIDs(ctx, fill(t.sql.Succeed, "clock", t.options.Now, "fence_no", decimal(fence)), ids)
	if err != nil {
		return err
	}
	var missed []int
	if ended < int64(len(ids)) {
		if ids, missed, err = t.endedNow(ctx, w, fence, positions); err != nil {
			return err
		}
	}
	left, err := t.leaveFenced(ctx, fence, ids, ended)
	if err != nil {
		return err
	}
	if left != ended {
		return fmt.Errorf("%d jobs ended and %d stopped running", ended, left)
	}
	return t.answerMissed(ctx, w, missed)
}

// endedNow parts settlements of one fence into the jobs that have ended by it, in this
// transaction or before, and the positions of the others.
func (t *txn) endedNow(ctx context.Context, w *settling, fence int64, positions []int) (ended []int64, missed []int, err error) {
	byFence := map[int64]bool{}
	err = t.eachOf(ctx, func(row *sql.Rows) error {
		var id int64
		err := row.Scan(&id)
		byFence[id] = true
		return err
	}, fill(t.sql.EndedUnder, "fence_no", decimal(fence)), idsAt(w.asked, positions))
	for _, i := range positions {
		if id := w.asked[i].ID; byFence[id] {
			ended = append(ended, id)
		}
		missed = append(missed, i)
	}
	slices.Sort(ended)
	return slices.Compact(ended), missed, err
}

// leaveFenced takes jobs of one fence out of running that have ended, and tells
// how many. Those that count against limits give their slots back; if there are
// no limits, as far as is known, the others go first and are mostly all.
func (t *txn) leaveFenced(ctx context.Context, fence int64, ids []int64, ended int64) (left int64, err error) {
	if config := t.limitConfig.Load(); config == nil || len(config.ByID) == 0 {
		left, err = t.execIDs(ctx, fill(t.sql.LeaveUnheld, "fence_no", decimal(fence)), ids)
		if err != nil || left == ended {
			return left, err
		}
	}
	slots := map[int32]int{}
	for chunk := range slices.Chunk(ids, chunkIDs) {
		err := t.each(ctx, func(row *sql.Rows) error {
			var set int32
			var jobs int
			err := row.Scan(&set, &jobs)
			slots[set] += jobs
			return err
		}, naming(fill(t.sql.HeldBy, "fence_no", decimal(fence)), chunk))
		if err != nil {
			return 0, err
		}
	}
	if err := t.free(ctx, slots); err != nil {
		return 0, err
	}
	more, err := t.execIDs(ctx, fill(t.sql.LeaveFenced, "fence_no", decimal(fence)), ids)
	return left + more, err
}

// settleEach locks the rows of running jobs and moves them. It returns how many it
// moved. It passes over jobs that another transaction holds; in a caller's transaction it
// waits for them.
func (t *txn) settleEach(ctx context.Context, w *settling, positions []int) (moved int, err error) {
	lock := t.sql.FreeRunning
	if t.callers {
		lock = t.sql.LockRunning
	}
	locked, err := t.running(ctx, lock, idsAt(w.asked, positions))
	if err != nil {
		return 0, err
	}
	keysHeld, err := t.lockKeysOf(ctx, w, positions, locked)
	if err != nil {
		return 0, err
	}
	returning := map[int64]*placed{}
	for _, i := range positions {
		if s := &w.asked[i]; verdict.GoesOn(s) && locked[s.ID] != nil {
			returning[s.ID] = locked[s.ID]
		}
	}
	if err := t.readOrder(ctx, returning); err != nil {
		return 0, err
	}
	now, err := t.clock(ctx)
	if err != nil {
		return 0, err
	}
	m := moves{now: now}
	var missed []int
	for _, i := range positions {
		s := &w.asked[i]
		p := locked[s.ID]
		if p == nil || !verdict.Current(s, p.state, p.fence) {
			missed = append(missed, i)
			continue
		}
		if keysHeld[s.ID] {
			w.answers[i] = fairlead.SettledHeld
			continue
		}
		delete(locked, s.ID) // of two for one job the first counts
		if w.answers[i], err = m.settle(p, s); err != nil {
			return 0, err
		}
		moved++
	}
	if err := t.write(ctx, &m); err != nil {
		return 0, err
	}
	return moved, t.answerMissed(ctx, w, missed)
}

// lockKeysOf locks the keys that settlements of locked jobs may give back, and returns
// the jobs whose keys another transaction holds. A caller's transaction waits for them
// instead.
func (t *txn) lockKeysOf(ctx context.Context, w *settling, positions []int, locked map[int64]*placed) (map[int64]bool, error) {
	var ids []int64
	for _, i := range positions {
		if s := &w.asked[i]; locked[s.ID] != nil && (s.FreeKey || locked[s.ID].wish.Valid) {
			ids = append(ids, s.ID)
		}
	}
	if t.callers {
		return nil, nil
	}
	return t.lockKeys(ctx, ids, false)
}

// answerMissed answers settlements that found no running row of their fence which was
// free. Those whose row is there are held by another transaction.
func (t *txn) answerMissed(ctx context.Context, w *settling, positions []int) error {
	if t.callers || len(positions) == 0 {
		return t.compareEnds(ctx, w, positions)
	}
	running, err := t.runningUnder(ctx, idsAt(w.asked, positions))
	if err != nil {
		return err
	}
	var gone []int
	for _, i := range positions {
		if s := &w.asked[i]; running[driver.Held{ID: s.ID, Fence: s.Fence}] {
			w.answers[i] = fairlead.SettledHeld
		} else {
			gone = append(gone, i)
		}
	}
	return t.compareEnds(ctx, w, gone)
}

// runningUnder returns the leases of running jobs, as far as they are committed.
func (t *txn) runningUnder(ctx context.Context, ids []int64) (map[driver.Held]bool, error) {
	running := map[driver.Held]bool{}
	err := t.eachOf(ctx, func(row *sql.Rows) error {
		var lease driver.Held
		err := row.Scan(&lease.ID, &lease.Fence)
		running[lease] = true
		return err
	}, t.sql.FencesOf, ids)
	return running, err
}

// compareEnds answers settlements that found no running row of their fence.
func (t *txn) compareEnds(ctx context.Context, w *settling, positions []int) error {
	ends := map[driver.Held]fairlead.State{}
	var err error
	if !t.callers { // there no end counts
		err = t.eachOf(ctx, func(row *sql.Rows) error {
			var lease driver.Held
			var outcome int
			err := row.Scan(&lease.ID, &lease.Fence, &outcome)
			ends[lease] = sqlstore.StateOf(outcome)
			return err
		}, t.sql.Ended, idsAt(w.asked, positions))
	}
	for _, i := range positions {
		s := &w.asked[i]
		w.answers[i] = verdict.Missed(s, ends[driver.Held{ID: s.ID, Fence: s.Fence}], t.callers)
	}
	return err
}
