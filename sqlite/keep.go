package sqlite

import (
	"context"
	"database/sql"
	"math"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// keepChunk is how many jobs the housekeeping moves in one transaction, so
// that nobody waits for long. Where jobs go one by one, fewer are moved.
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

// Promote makes due jobs ready.
func (s *Store) Promote(ctx context.Context, limit int) (fairlead.Promotion, error) {
	moved, err := inChunks(limit, keepChunk, func(limit int) (int, error) {
		return write(ctx, s, "promote", func(t *txn) (int, error) { return t.promote(limit) })
	})
	if err != nil {
		return fairlead.Promotion{}, err
	}
	next, err := read(ctx, s, "promote", func(t *txn) (time.Duration, error) {
		var due sql.NullInt64
		if _, err := t.one(t.sql.NextDue, nil, &due); err != nil || !due.Valid {
			return -1, err
		}
		micros := min(max(0, due.Int64-t.now), math.MaxInt64/1000) // a time may be too far for a duration
		return time.Duration(micros) * time.Microsecond, nil
	})
	return fairlead.Promotion{Moved: moved, Next: next}, err
}

func (t *txn) promote(limit int) (int, error) {
	var ids []int64
	lanes := map[int32]bool{}
	err := t.each(t.sql.Due, []any{t.now, limit}, func(row sqlstore.Scanner) error {
		var id int64
		var lane int32
		if err := row.Scan(&id, &lane); err != nil {
			return err
		}
		ids = append(ids, id)
		lanes[lane] = true
		return nil
	})
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	list := idList(ids)
	if err := t.must(int64(len(ids)), t.sql.Promote, fairlead.SoloAfter, list); err != nil {
		return 0, err
	}
	if err := t.must(int64(len(ids)), t.sql.LeaveLaterMany, list); err != nil {
		return 0, err
	}
	for lane := range lanes {
		key, err := t.laneNamed(lane)
		if err != nil {
			return 0, err
		}
		t.news.addWork(lane, key)
	}
	return len(ids), nil
}

// Expire fails waiting jobs whose deadline has passed.
func (s *Store) Expire(ctx context.Context, limit int) (int, error) {
	return inChunks(limit, oneByOne, func(limit int) (int, error) {
		return write(ctx, s, "expire", func(t *txn) (int, error) {
			ids, err := t.list(t.sql.Overdue, t.now, limit)
			if err != nil {
				return 0, err
			}
			for _, id := range ids {
				p, err := t.locate(id)
				if err != nil {
					return 0, err
				}
				if err := t.fail(p, fairlead.ReasonDeadline, "no answer came before the deadline"); err != nil {
					return 0, err
				}
			}
			return len(ids), nil
		})
	})
}

// forgetAfter is how long dead nodes are listed.
const forgetAfter = time.Hour

// Prune removes finished jobs that are older than their retention.
func (s *Store) Prune(ctx context.Context, keep fairlead.Retention, limit int) (int, error) {
	_, err := write(ctx, s, "prune nodes", func(t *txn) (int64, error) {
		return t.exec(t.sql.ForgetNodes, t.now-forgetAfter.Microseconds())
	})
	if err != nil {
		return 0, err
	}
	total := 0
	for _, kept := range []struct {
		outcome int
		age     time.Duration
	}{
		{sqlstore.OutcomeSucceeded, keep.Succeeded},
		{sqlstore.OutcomeFailed, keep.Failed},
		{sqlstore.OutcomeCancelled, keep.Cancelled},
		{sqlstore.OutcomeSkipped, keep.Skipped},
	} {
		if kept.age <= 0 {
			continue
		}
		removed, err := inChunks(limit-total, keepChunk, func(limit int) (int, error) {
			return write(ctx, s, "prune", func(t *txn) (int, error) { return t.prune(kept.outcome, kept.age, limit) })
		})
		total += removed
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

func (t *txn) prune(outcome int, age time.Duration, limit int) (int, error) {
	ids, err := t.list(t.sql.Outdated, outcome, t.now-age.Microseconds(), limit)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	if err := t.must(int64(len(ids)), t.sql.LeaveDoneMany, idList(ids)); err != nil {
		return 0, err
	}
	return len(ids), t.forget(ids)
}
