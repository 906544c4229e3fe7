package sqlstore

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/bulk"
	"github.com/fairlead-io/fairlead/driver"
)

// bulkStore keeps bulks, and acts upon jobs for them.
type bulkStore struct {
	db     Database
	acting Acting
	sql    *BulkStatements
	audit  *AuditStatements
}

// BulkStatements are those of a bulkStore.
type BulkStatements struct {
	AddBulk     string `sql:"add_bulk"`
	Bulks       string `sql:"bulks"`
	LockBulk    string `sql:"lock_bulk"`
	AdvanceBulk string `sql:"advance_bulk"`
	AddMisses   string `sql:"add_misses"`
	BulkMisses  string `sql:"bulk_misses"`
	StopBulk    string `sql:"stop_bulk"`
	OldBulks    string `sql:"old_bulks"`
	DropMisses  string `sql:"drop_misses"`
	DropBulk    string `sql:"drop_bulk"`
}

// AddBulk stores a bulk and the job that carries it out.
func (s *bulkStore) AddBulk(ctx context.Context, b bulk.Bulk, job *fairlead.Job) (bulk.Bulk, error) {
	body, err := encodeBulk(&b)
	if err != nil {
		return bulk.Bulk{}, fmt.Errorf("add bulk: %w", err)
	}
	given := *job
	var stored []bulk.Bulk
	_, err = s.acting.Act(ctx, "add bulk", Subject{"bulk", 0}, true, func(ctx context.Context, tx JobTx) (err error) {
		own := given // made anew each time this runs
		if err := tx.Enqueue(ctx, []*fairlead.Job{&own}); err != nil {
			return err
		}
		tx.Queue(s.sql.AddBulk, own.ID, b.Matched, b.More, JSON(body))
		stored, err = list(ctx, tx, scanBulk, s.sql.Bulks, own.ID, own.ID, 1)
		return err
	})
	if err != nil {
		return bulk.Bulk{}, err
	}
	return stored[0], nil
}

// Bulks lists bulks, newest first.
func (s *bulkStore) Bulks(ctx context.Context, filter bulk.Filter) ([]bulk.Bulk, error) {
	limit, last := pageSize(filter.Limit), int64(math.MaxInt64)
	if filter.Below > 0 {
		last = filter.Below - 1
	}
	if len(filter.IDs) > 0 {
		return s.named(ctx, filter, last, limit)
	}
	var found []bulk.Bulk
	for {
		page, err := readList(ctx, s.db.Read, "list bulks", scanBulk, s.sql.Bulks, 0, last, limit)
		if err != nil {
			return nil, err
		}
		for _, b := range page {
			if within(&b, filter.Tenants) && len(found) < limit {
				found = append(found, b)
			}
		}
		if len(page) < limit || len(found) == limit {
			return found, nil
		}
		last = page[limit-1].ID - 1
	}
}

// named lists those of a filter that names ids.
func (s *bulkStore) named(ctx context.Context, filter bulk.Filter, last int64, limit int) ([]bulk.Bulk, error) {
	var found []bulk.Bulk
	for _, id := range slices.Backward(slices.Compact(slices.Sorted(slices.Values(filter.IDs)))) {
		if id > last || len(found) == limit {
			continue
		}
		one, err := readList(ctx, s.db.Read, "list bulks", scanBulk, s.sql.Bulks, id, id, 1)
		if err != nil {
			return nil, err
		}
		if len(one) > 0 && within(&one[0], filter.Tenants) {
			found = append(found, one[0])
		}
	}
	return found, nil
}

// within reports whether a bulk is about jobs of some tenants alone; of all, if none are
// named.
func within(b *bulk.Bulk, tenants []string) bool {
	if len(tenants) == 0 {
		return true
	}
	foreign := func(tenant string) bool { return !slices.Contains(tenants, tenant) }
	return len(b.Filter.Tenants) > 0 && !slices.ContainsFunc(b.Filter.Tenants, foreign)
}

func pageSize(limit int) int {
	if limit <= 0 {
		return fairlead.DefaultPage
	}
	return limit
}

// BulkMisses lists what a bulk has left as it was.
func (s *bulkStore) BulkMisses(ctx context.Context, id int64, filter bulk.MissFilter) ([]bulk.Miss, error) {
	below := filter.Below
	if below <= 0 {
		below = math.MaxInt64
	}
	return readList(ctx, s.db.Read, "list misses", func(row Scanner) (miss bulk.Miss, err error) {
		err = row.Scan(&miss.Job, &miss.Why)
		return miss, err
	}, s.sql.BulkMisses, id, below, pageSize(filter.Limit))
}

// StopBulk asks a bulk to stop.
func (s *bulkStore) StopBulk(ctx context.Context, id int64) error {
	found, err := s.Bulks(ctx, bulk.Filter{IDs: []int64{id}})
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return fmt.Errorf("stop bulk: %w", bulk.NoSuchBulk(id))
	}
	hit := int64(0)
	if !found[0].State.Final() {
		hit, err = exec(ctx, s.db, "stop bulk", s.sql.StopBulk, id)
	}
	if err == nil && hit == 0 {
		err = fmt.Errorf("stop bulk: bulk %d has ended: %w", id, fairlead.ErrConflict)
	}
	return err
}

// PruneBulks removes bulks that ended longer ago than they are kept, at most limit of them and
// of what they have left. A bulk that has failed is removed once its job is.
func (s *bulkStore) PruneBulks(ctx context.Context, keep driver.Retention, limit int) (total int, err error) {
	for _, kept := range []struct {
		stopped bool
		age     int64
	}{{false, keep.Succeeded.Microseconds()}, {true, keep.Cancelled.Microseconds()}} {
		if kept.age <= 0 || kept.age >= endless.Microseconds() {
			continue
		}
		old, err := readList(ctx, s.db.Read, "prune bulks", scanNumber, s.sql.OldBulks, kept.stopped, kept.age, min(max(limit, 0), pruneChunk))
		if err != nil {
			return total, err
		}
		for _, id := range old {
			removed, err := s.drop(ctx, id, limit-total)
			total += removed
			if err != nil || total >= limit {
				return total, err
			}
		}
	}
	return total, nil
}

// drop removes a bulk, and before it what is known of the jobs that it has left.
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
