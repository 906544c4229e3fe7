package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/internal/verdict"
)

// keepChunk is how many jobs one transaction of the housekeeping moves, to keep
// it short.
const keepChunk = 500

// inChunks repeats a step until it moves less than it may, or limit is reached.
func inChunks(limit int, step func(limit int) (int, error)) (int, error) {
	total := 0
	for total < limit {
		chunk := min(keepChunk, limit-total)
		moved, err := step(chunk)
		total += moved
		if err != nil || moved < chunk {
			return total, err
		}
	}
	return total, nil
}

// Promote makes due scheduled jobs ready, or parks them if their gates are full. It also
// admits parked jobs that no other call has admitted.
func (s *Store) Promote(ctx context.Context, limit int) (driver.Promotion, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	moved, err := inChunks(limit, func(limit int) (int, error) { return s.promote(ctx, limit) })
	if err != nil {
		return driver.Promotion{Moved: moved}, err
	}
	promotion := driver.Promotion{Moved: moved, Next: -1}
	if err := s.admitLeft(ctx, limit); err != nil {
		return promotion, fmt.Errorf("promote: %w", err)
	}
	if err := s.reholdLeft(ctx); err != nil {
		return promotion, fmt.Errorf("promote: %w", err)
	}
	var next sql.NullInt64
	if err := one(ctx, s.db, []any{&next}, s.sql.NextDue); err != nil {
		return promotion, fmt.Errorf("promote: %w", err)
	}
	if next.Valid {
		now, err := s.now(ctx)
		if err != nil {
			return promotion, fmt.Errorf("promote: %w", err)
		}
		promotion.Next = until(next.Int64, now)
	}
	return promotion, nil
}

// until is how long it is from now to a time, not less than nothing.
func until(at, now int64) time.Duration {
	const longest = int64(1<<63-1) / int64(time.Microsecond)
	return time.Duration(min(max(0, at-now), longest)) * time.Microsecond
}

func (s *Store) promote(ctx context.Context, limit int) (moved int, err error) {
	err = s.inTx(ctx, "promote", func(ctx context.Context, t *txn) error {
		now, err := t.clock(ctx)
		if err != nil {
			return err
		}
		due := map[int64]*placed{}
		err = t.each(ctx, func(row *sql.Rows) error {
			p := &placed{state: fairlead.Scheduled}
			if err := row.Scan(&p.id, &p.lane, &p.attempt, &p.failures, &p.crashes); err != nil {
				return err
			}
			due[p.id] = p
			return nil
		}, t.sql.LockDue, now, limit)
		if err != nil {
			return err
		}
		if err := t.readOrder(ctx, due); err != nil {
			return err
		}
		if err := t.readPlaces(ctx, due); err != nil {
			return err
		}
		m := moves{now: now}
		for _, p := range due {
			m.await(p, now)
		}
		moved = len(due)
		return t.write(ctx, &m)
	})
	return moved, err
}

// Overdue lists waiting jobs whose deadlines have passed.
func (s *Store) Overdue(ctx context.Context, limit int) ([]driver.Held, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	var overdue []driver.Held
	err := each(ctx, s.db, func(row *sql.Rows) error {
		var held driver.Held
		err := row.Scan(&held.ID, &held.Fence)
		overdue = append(overdue, held)
		return err
	}, s.sql.Overdue, max(0, limit))
	if err != nil {
		return nil, fmt.Errorf("overdue: %w", err)
	}
	return overdue, nil
}

// Expire ends the waits of the given jobs if their deadlines have passed.
func (s *Store) Expire(ctx context.Context, overdue []driver.Held) (int, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	total := 0
	for chunk := range slices.Chunk(overdue, keepChunk) {
		moved, err := s.expire(ctx, chunk)
		total += moved
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

func (s *Store) expire(ctx context.Context, overdue []driver.Held) (moved int, err error) {
	fences := make(map[int64]int64, len(overdue))
	for _, held := range overdue {
		fences[held.ID] = held.Fence
	}
	err = s.inTx(ctx, "expire", func(ctx context.Context, t *txn) error {
		waiting, err := t.lockOverdue(ctx, slices.Sorted(maps.Keys(fences)))
		if err != nil {
			return err
		}
		now, err := t.clock(ctx)
		if err != nil {
			return err
		}
		if err := t.readOrder(ctx, waiting); err != nil {
			return err
		}
		if err := t.passOverHeldKeys(ctx, waiting, func(p *placed) bool { return p.retryAfter < 0 }); err != nil {
			return err
		}
		m := moves{now: now}
		moved = 0
		for id, p := range waiting {
			at, err := p.jobState(now)
			if err != nil {
				return err
			}
			if at.Overdue(fences[id]) {
				next := verdict.Expire(at.Retry)
				m.become(p, &next)
				moved++
			}
		}
		return t.write(ctx, &m)
	})
	return moved, err
}

// lockOverdue locks and reads waiting jobs that no other transaction has locked, by id.
func (t *txn) lockOverdue(ctx context.Context, ids []int64) (map[int64]*placed, error) {
	locked := map[int64]*placed{}
	err := t.eachOf(ctx, func(row *sql.Rows) error {
		p := &placed{state: fairlead.Waiting}
		err := row.Scan(&p.id, &p.fence, &p.node, &p.lane, &p.attempt, &p.failures, &p.crashes, &p.startedAt, &p.set, &p.deadline, &p.retryAfter)
		locked[p.id] = p
		return err
	}, t.sql.LockOverdue, ids)
	return locked, err
}

// Prune removes records that are older than their retention periods.
func (s *Store) Prune(ctx context.Context, keep driver.Retention, limit int) (int, error) {
	limit = max(0, limit)
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	if err := s.MarkIDs(ctx); err != nil {
		return 0, err
	}
	total := 0
	keeping, err := s.Keeping(ctx, keep)
	if err != nil {
		return 0, err
	}
	for _, kept := range keeping.Outcomes() {
		removed, err := s.pruneOutcome(ctx, keeping, kept, limit-total)
		total += removed
		if err != nil {
			return total, err
		}
	}
	if _, err := s.execAlone(ctx, s.db, s.sql.PruneReaped, nodeRetention.Microseconds(), limit); err != nil {
		return total, fmt.Errorf("prune: %w", err)
	}
	if err := s.pruneNodes(ctx); err != nil {
		return total, fmt.Errorf("prune: %w", err)
	}
	for _, prune := range []func(ctx context.Context, limit int) (int, error){s.pruneRequests, s.pruneEntries} {
		removed, err := inChunks(limit, func(limit int) (int, error) { return prune(ctx, limit) })
		total += removed
		if err != nil {
			return total, err
		}
	}
	if _, err := inChunks(limit, func(limit int) (int, error) { return s.pruneSchedules(ctx, limit) }); err != nil {
		return total, err
	}
	if err := s.pruneLimits(ctx); err != nil {
		return total, fmt.Errorf("prune: %w", err)
	}
	if err := s.retireLanes(ctx); err != nil {
		return total, err
	}
	batches, err := s.pruneBatches(ctx, keep, limit)
	total += batches
	if err != nil {
		return total, err
	}
	lines, err := s.PruneSweeps(ctx, keep.Failed, limit)
	if err != nil {
		return total + lines, err
	}
	bulks, err := s.PruneBulks(ctx, keep, limit)
	return total + lines + bulks, err
}

// pruneOutcome removes finished jobs of one outcome.
func (s *Store) pruneOutcome(ctx context.Context, keeping *sqlstore.Keeping, kept sqlstore.Kept, limit int) (int, error) {
	if kept.Varies {
		return s.PruneVaried(ctx, keeping, kept, limit)
	}
	return inChunks(limit, func(limit int) (int, error) { return s.prune(ctx, kept.Outcome, kept.For, limit) })
}

// prune removes jobs of an outcome that are older than they have to be kept.
func (s *Store) prune(ctx context.Context, outcome int, age time.Duration, limit int) (removed int, err error) {
	var next outdatedCursor
	err = s.inTx(ctx, "prune", func(ctx context.Context, t *txn) error {
		now, err := t.clock(ctx)
		if err != nil {
			return err
		}
		var outdated []int64
		outdated, next, err = t.lockOutdated(ctx, outcome, now-age.Microseconds(), limit, s.outdated.get(outcome))
		if err != nil {
			return err
		}
		removed, err = t.remove(ctx, outdated)
		return err
	})
	if err == nil {
		s.outdated.set(outcome, next)
	}
	return removed, err
}

// RemoveFinished implements the source of features.
func (d database) RemoveFinished(ctx context.Context, outcome int, ids []int64, last int64) (removed int, err error) {
	err = d.Store.inTx(ctx, "prune", func(ctx context.Context, t *txn) error {
		var locked, removable []int64
		if err := t.each(ctx, collect(&locked), naming(t.sql.Removable, ids), outcome, last); err != nil {
			return err
		}
		uncounted, err := t.uncounted(ctx, locked)
		if err != nil {
			return err
		}
		for _, id := range locked {
			if uncounted[id] == 0 {
				removable = append(removable, id)
			}
		}
		removed, err = t.remove(ctx, removable)
		return err
	})
	return removed, err
}

// remove removes finished jobs whose places it has locked, the place and the job. A job
// that another transaction reopens at the same instant is either not found here, or gone
// for that transaction.
func (t *txn) remove(ctx context.Context, outdated []int64) (removed int, err error) {
	held, err := t.lockKeys(ctx, outdated, true)
	if err != nil {
		return 0, err
	}
	outdated = slices.DeleteFunc(slices.Clone(outdated), func(id int64) bool { return held[id] })
	var locked, fires []int64
	err = t.eachOf(ctx, func(row *sql.Rows) error {
		var id int64
		var flags int16
		err := row.Scan(&id, &flags)
		locked = append(locked, id)
		if flags&sqlstore.FlagFire != 0 {
			fires = append(fires, id)
		}
		return err
	}, t.sql.LockJobs, outdated)
	if err != nil {
		return 0, err
	}
	removed = len(locked)
	left, err := t.execIDs(ctx, t.sql.LeaveDone, locked)
	if err := checkHits(removed, left, err); err != nil {
		return 0, err
	}
	if _, err := t.execIDs(ctx, t.sql.DropFires, fires); err != nil {
		return 0, err
	}
	return removed, t.forget(ctx, locked)
}

// collect reads answers that are lists of ids.
func collect(into *[]int64) func(*sql.Rows) error {
	return func(row *sql.Rows) error {
		var id int64
		err := row.Scan(&id)
		*into = append(*into, id)
		return err
	}
}

// nodeRetention is how long a dead node is remembered.
const nodeRetention = time.Hour

// pruneNodes removes long dead nodes that hold nothing.
func (s *Store) pruneNodes(ctx context.Context) error {
	var old, busy []int64
	err := each(ctx, s.db, collect(&old), s.sql.OldNodes, nodeRetention.Microseconds())
	if err != nil || len(old) == 0 {
		return err
	}
	if err := each(ctx, s.db, collect(&busy), s.sql.BusyNodes); err != nil {
		return err
	}
	idle := slices.DeleteFunc(old, func(node int64) bool { return slices.Contains(busy, node) })
	for list := range idChunks(idle) {
		for _, statement := range []string{s.sql.PruneFences, s.sql.PruneNodes} { // a fence whose node is forgotten is not found again
			if _, err := s.execAlone(ctx, s.db, fill(statement, "ids", list)); err != nil {
				return err
			}
		}
	}
	return nil
}
