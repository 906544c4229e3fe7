package sqlstore

import (
	"context"
	"fmt"
	"math"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// PruneBulks removes bulks whose retention period has passed, counting at most limit bulks
// and misses together. A bulk that ended together with its job is removed when the job is,
// regardless of the retention of other bulks.
func (s *bulkStore) PruneBulks(ctx context.Context, keep driver.Retention, limit int) (int, error) {
	total, err := s.dropAll(ctx, limit, s.sql.LoneBulks)
	for _, kept := range []struct {
		stopped bool
		age     int64
	}{{false, keep.Succeeded.Microseconds()}, {true, keep.Cancelled.Microseconds()}} {
		if err != nil || kept.age <= 0 || kept.age >= endless.Microseconds() {
			continue
		}
		var removed int
		removed, err = s.dropAll(ctx, limit-total, s.sql.OldBulks, kept.stopped, kept.age)
		total += removed
	}
	return total, err
}

// dropAll removes the bulks that a statement finds, counting at most limit bulks and misses
// together.
func (s *bulkStore) dropAll(ctx context.Context, limit int, find string, args ...any) (total int, err error) {
	old, err := readList(ctx, s.db.Read, "prune bulks", scanNumber, find, append(args, min(max(limit, 0), pruneChunk))...)
	if err != nil {
		return 0, err
	}
	for _, id := range old {
		removed, err := s.drop(ctx, id, limit-total)
		if total += removed; err != nil || total >= limit {
			return total, err
		}
	}
	return total, nil
}

// drop removes a bulk after removing its misses.
func (s *bulkStore) drop(ctx context.Context, id int64, limit int) (total int, err error) {
	for total < limit {
		chunk := min(limit-total, pruneChunk)
		gone, err := exec(ctx, s.db, "prune bulks", s.sql.DropMisses, id, chunk)
		if total += int(gone); err != nil {
			return total, err
		}
		if int(gone) < chunk {
			hit, err := exec(ctx, s.db, "prune bulks", s.sql.DropBulk, id)
			return total + int(hit), err
		}
	}
	return total, nil
}

// DeleteBulk removes a bulk that has ended. A bulk that ended with its job could resume if
// the job were retried, so DeleteBulk first marks the bulk itself as ended. Then no step
// can add misses after the deletion of misses.
func (s *bulkStore) DeleteBulk(ctx context.Context, id int64) error {
	b, err := s.one(ctx, "delete bulk", id)
	if err == nil && !b.State.Final() {
		err = fmt.Errorf("delete bulk action: bulk action %d has not ended; stop it first: %w", id, fairlead.ErrConflict)
	}
	if err == nil {
		_, err = exec(ctx, s.db, "delete bulk", s.sql.AdvanceBulk, id, b.Cursor, 0, 0, true, true)
	}
	if err == nil {
		_, err = s.drop(ctx, id, math.MaxInt)
	}
	return err
}
