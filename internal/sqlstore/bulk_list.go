package sqlstore

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/bulk"
)

// looksForOne limits a list filtered by tenant: for each bulk the page has room for, at
// most this many bulks are examined.
const looksForOne = 10

// Bulks lists bulks, newest first.
func (s *bulkStore) Bulks(ctx context.Context, filter bulk.Filter) (page bulk.Page, err error) {
	limit, last := pageSize(filter.Limit), int64(math.MaxInt64)
	if filter.Below > 0 {
		last = filter.Below - 1
	}
	if len(filter.IDs) > 0 {
		page.Bulks, err = s.named(ctx, filter, last, limit)
		return page, err
	}
	look := limit + 1 // one more shows whether there is a next page
	if len(filter.Tenants) > 0 {
		look = looksForOne * limit
	}
	seen, err := readList(ctx, s.db.Read, "list bulks", scanBulk, s.sql.Bulks, 0, last, look)
	if err != nil {
		return page, err
	}
	for i, b := range seen {
		if within(&b, filter.Tenants) {
			page.Bulks = append(page.Bulks, b)
		}
		if len(page.Bulks) == limit && i+1 < len(seen) || i+1 == look {
			page.Next = b.ID
			break
		}
	}
	return page, nil
}

// named lists the bulks of a filter with explicit IDs.
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

// one returns a bulk, or ErrNotFound.
func (s *bulkStore) one(ctx context.Context, verb string, id int64) (bulk.Bulk, error) {
	found, err := readList(ctx, s.db.Read, verb, scanBulk, s.sql.Bulks, id, id, 1)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("%s: %w", verb, bulk.NoSuchBulk(id))
	}
	if err != nil {
		return bulk.Bulk{}, err
	}
	return found[0], nil
}

// within reports whether a bulk affects only jobs of the given tenants. With no tenants
// given, it returns true.
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

// BulkMisses lists the jobs that a bulk left unchanged, with the reasons.
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
