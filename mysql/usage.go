package mysql

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Usage tells what the jobs of all and of each tenant have and do.
func (s *Store) Usage(ctx context.Context) (fairlead.UsageReport, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	report, err := s.usage.Report(ctx, func() (fairlead.UsageReport, error) {
		census, err := s.census(ctx)
		if err != nil {
			return fairlead.UsageReport{}, err
		}
		return census.Report(), nil
	})
	if err != nil {
		return fairlead.UsageReport{}, fmt.Errorf("usage: %w", err)
	}
	return report, nil
}

func (s *Store) census(ctx context.Context) (*sqlstore.Census, error) {
	tenants, err := s.Tenants(ctx, fairlead.TenantFilter{Limit: sqlstore.EveryTenant})
	if err != nil {
		return nil, err
	}
	limits, err := s.Limits(ctx)
	if err != nil {
		return nil, err
	}
	now, err := s.now(ctx)
	if err != nil {
		return nil, err
	}
	census := sqlstore.NewCensus(sqlstore.Time(now), tenants)
	census.Limits(limits)
	if err := s.countJobs(ctx, census); err != nil {
		return nil, err
	}
	starts, err := s.recentStarts(ctx, s.db, now)
	for _, tenant := range starts {
		census.Starts(tenant)
	}
	return census, err
}

// recentStarts is what was started within the window.
func (s *Store) recentStarts(ctx context.Context, q querier, now int64) (starts []driver.Starts, err error) {
	err = each(ctx, q, func(row *sql.Rows) error {
		var tenant driver.Starts
		err := row.Scan(&tenant.Tenant, &tenant.Count, &tenant.Missed)
		starts = append(starts, tenant)
		return err
	}, s.sql.RecentStarts, bucket(now, fairlead.UsageWindow))
	return starts, err
}

func (s *Store) countJobs(ctx context.Context, census *sqlstore.Census) error {
	type count struct {
		lane    int32
		state   fairlead.State
		n       int
		startBy int64
	}
	var counts []count
	err := each(ctx, s.db, func(row *sql.Rows) error {
		var c count
		err := row.Scan(&c.lane, &c.state, &c.n, &c.startBy)
		counts = append(counts, c)
		return err
	}, s.sql.Census)
	if err != nil {
		return err
	}
	for _, c := range counts {
		lane, err := s.laneKey(ctx, c.lane)
		if err != nil {
			return err
		}
		census.Count(lane, c.state, c.n, sqlstore.Time(c.startBy))
	}
	return nil
}

// mostForgotten is how many rows one report removes: as many as it may add, and
// more.
const mostForgotten = 2 * chunkTuples

// Report adds to what was started.
func (s *Store) Report(ctx context.Context, starts []driver.Starts) error {
	if len(starts) == 0 {
		return nil
	}
	starts = slices.SortedFunc(slices.Values(starts), func(a, b driver.Starts) int { return cmp.Compare(a.Tenant, b.Tenant) })
	err := s.inTx(ctx, "report", func(ctx context.Context, t *txn) error {
		now, err := t.clock(ctx)
		if err != nil {
			return err
		}
		var added tuples
		for _, tenant := range starts {
			added.add().ints(bucket(now, 0)).str(tenant.Tenant).ints(int64(tenant.Count), int64(tenant.Missed)).end()
		}
		return t.insert(ctx, t.sql.AddStarts, &added)
	})
	if err != nil {
		return err
	}
	return s.forgetStarts(ctx)
}

// forgetStarts removes what is too old to be asked for. It is a transaction of
// its own: with what is added it would lock more than one bucket.
func (s *Store) forgetStarts(ctx context.Context) error {
	return s.inTx(ctx, "report", func(ctx context.Context, t *txn) error {
		now, err := t.clock(ctx)
		if err != nil {
			return err
		}
		var old tuples
		found := 0
		err = t.each(ctx, func(row *sql.Rows) error {
			var at int64
			var tenant string
			err := row.Scan(&at, &tenant)
			old.add().ints(at).str(tenant).end()
			found++
			return err
		}, t.sql.OldStarts, bucket(now, fairlead.UsageWindow), mostForgotten)
		if err != nil || found == 0 {
			return err
		}
		_, err = t.execRows(ctx, t.sql.ForgetStarts, &old)
		return err
	})
}

// bucket is where starts of some time ago are counted.
func bucket(now int64, ago time.Duration) int64 {
	return (now - ago.Microseconds()) / sqlstore.StartsBucket.Microseconds()
}
