package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Usage tells what the jobs of all and of each tenant have and do.
func (s *Store) Usage(ctx context.Context) (fairlead.UsageReport, error) {
	return s.usage.Report(ctx, func() (fairlead.UsageReport, error) { return s.countUsage(ctx) })
}

func (s *Store) countUsage(ctx context.Context) (fairlead.UsageReport, error) {
	limits, err := s.Limits(ctx)
	if err != nil {
		return fairlead.UsageReport{}, fmt.Errorf("usage: %w", err)
	}
	tenants, err := s.Tenants(ctx, fairlead.TenantFilter{Limit: sqlstore.EveryTenant})
	if err != nil {
		return fairlead.UsageReport{}, fmt.Errorf("usage: %w", err)
	}
	return read(ctx, s, "usage", func(t *txn) (fairlead.UsageReport, error) {
		census := sqlstore.NewCensus(sqlstore.Time(t.now), tenants)
		census.Limits(limits)
		if err := t.countJobs(census); err != nil {
			return fairlead.UsageReport{}, err
		}
		starts, err := t.recentStarts()
		for _, tenant := range starts {
			census.Starts(tenant)
		}
		return census.Report(), err
	})
}

func (t *txn) countJobs(census *sqlstore.Census) error {
	return t.each(t.sql.Census, nil, func(row sqlstore.Scanner) error {
		var lane int32
		var state fairlead.State
		var n int
		var startBy int64
		if err := row.Scan(&lane, &state, &n, &startBy); err != nil {
			return err
		}
		key, err := t.laneNamed(lane)
		if err == nil {
			census.Count(key, state, n, sqlstore.Time(startBy))
		}
		return err
	})
}

// recentStarts is what was started within the window.
func (t *txn) recentStarts() (starts []driver.Starts, err error) {
	err = t.each(t.sql.RecentStarts, []any{t.bucket(fairlead.UsageWindow)}, func(row sqlstore.Scanner) error {
		var tenant driver.Starts
		err := row.Scan(&tenant.Tenant, &tenant.Count, &tenant.Missed)
		starts = append(starts, tenant)
		return err
	})
	return starts, err
}

// Report adds to what was started.
func (s *Store) Report(ctx context.Context, starts []driver.Starts) error {
	if len(starts) == 0 {
		return nil
	}
	list, err := json.Marshal(starts)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	_, err = inTx(ctx, s, "report", func(t *txn) (none, error) {
		if _, err := t.exec(t.sql.AddStarts, t.bucket(0), string(list)); err != nil {
			return none{}, err
		}
		_, err := t.exec(t.sql.ForgetStarts, t.bucket(fairlead.UsageWindow))
		return none{}, err
	})
	return err
}

// bucket is where starts of some time ago are counted.
func (t *txn) bucket(ago time.Duration) int64 {
	return (t.now - ago.Microseconds()) / sqlstore.StartsBucket.Microseconds()
}
