package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/internal/verdict"
)

// keepChunk is how many jobs the housekeeping moves in one transaction, so
// that no caller waits for long. Where jobs go one by one, fewer are moved.
const (
	keepChunk = 2000
	oneByOne  = 500
)

// inChunks repeats a transaction until limit jobs are moved or no more are
// left.
func inChunks(limit, chunk int, move func(limit int) (int, error)) (int, error) {
	total := 0
	for total < limit {
		size := min(chunk, limit-total)
		moved, err := move(size)
		total += moved
		if err != nil || moved < size {
			return total, err
		}
	}
	return total, nil
}

// Promote makes due scheduled jobs ready, or parks them if their gates are full. It does not
// admit parked jobs: every commit leaves all places at gates filled.
func (s *Store) Promote(ctx context.Context, limit int) (driver.Promotion, error) {
	moved, err := inChunks(limit, keepChunk, func(limit int) (int, error) {
		return inTx(ctx, s, "promote", func(t *txn) (int, error) { return t.promote(limit) })
	})
	if err != nil {
		return driver.Promotion{}, err
	}
	next, err := read(ctx, s, "promote", func(t *txn) (time.Duration, error) {
		var due sql.NullInt64
		if _, err := t.one(t.sql.NextDue, nil, &due); err != nil || !due.Valid {
			return -1, err
		}
		micros := min(max(0, due.Int64-t.now), math.MaxInt64/1000) // a time may be too far for a duration
		return time.Duration(micros) * time.Microsecond, nil
	})
	return driver.Promotion{Moved: moved, Next: next}, err
}

func (t *txn) promote(limit int) (int, error) {
	ids, lanes, err := t.withLanes(t.sql.Due, t.now, limit)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	list, all := idList(ids), int64(len(ids))
	promoted, err := t.exec(t.sql.Promote, driver.SoloAfter, list)
	if err != nil {
		return 0, err
	}
	if promoted < all {
		if err := t.park(list, all-promoted); err != nil {
			return 0, err
		}
	}
	if err := t.must(all, t.sql.LeaveLaterMany, list); err != nil {
		return 0, err
	}
	return len(ids), t.workIn(lanes)
}

// withLanes runs a query whose rows are jobs and their lanes.
func (t *txn) withLanes(query string, args ...any) (ids []int64, lanes map[int32]bool, err error) {
	lanes = map[int32]bool{}
	err = t.each(query, args, func(row sqlstore.Scanner) error {
		var id int64
		var lane int32
		err := row.Scan(&id, &lane)
		ids = append(ids, id)
		lanes[lane] = true
		return err
	})
	return ids, lanes, err
}

// workIn tells that jobs became ready in some lanes.
func (t *txn) workIn(lanes map[int32]bool) error {
	for lane := range lanes {
		key, err := t.laneNamed(lane)
		if err != nil {
			return err
		}
		t.wakes.addWork(lane, key)
	}
	return nil
}

// Overdue lists waiting jobs whose deadlines have passed.
func (s *Store) Overdue(ctx context.Context, limit int) ([]driver.Held, error) {
	return read(ctx, s, "overdue", func(t *txn) (overdue []driver.Held, err error) {
		err = t.each(t.sql.Overdue, []any{t.now, max(0, limit)}, func(row sqlstore.Scanner) error {
			var held driver.Held
			err := row.Scan(&held.ID, &held.Fence)
			overdue = append(overdue, held)
			return err
		})
		return overdue, err
	})
}

// Expire ends the waits of the given jobs, whose deadlines have passed.
func (s *Store) Expire(ctx context.Context, overdue []driver.Held) (int, error) {
	total := 0
	for chunk := range slices.Chunk(slices.Clone(overdue), oneByOne) {
		moved, err := inTx(ctx, s, "expire", func(t *txn) (int, error) { return t.expire(chunk) })
		total += moved
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

func (t *txn) expire(overdue []driver.Held) (moved int, err error) {
	for _, held := range overdue {
		p, err := t.locate(held.ID)
		if errors.Is(err, fairlead.ErrNotFound) {
			continue
		}
		if err != nil {
			return 0, err
		}
		at, err := p.jobState(t.now)
		if err != nil {
			return 0, err
		}
		if !at.Overdue(held.Fence) {
			continue
		}
		next := verdict.Expire(at.Retry)
		if err := t.become(p, &next); err != nil {
			return 0, err
		}
		moved++
	}
	return moved, nil
}
