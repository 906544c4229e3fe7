package postgres

import (
	"context"
	"fmt"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Usage tells what the jobs of all and of each tenant have and do.
func (s *Store) Usage(ctx context.Context) (fairlead.UsageReport, error) {
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
	now, err := s.Now(ctx)
	if err != nil {
		return nil, err
	}
	counts, err := s.countJobs(ctx)
	if err != nil {
		return nil, err
	}
	starts, err := s.recentStarts(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.refreshLanes(ctx, 0); err != nil {
		return nil, err
	}
	census := sqlstore.NewCensus(now, tenants)
	census.Limits(limits)
	for _, c := range counts {
		lane, _ := s.lanes.Key(c.lane) // known: it was there before its jobs
		census.Count(lane, c.state, c.n, sqlstore.Time(c.startBy))
	}
	for _, tenant := range starts {
		census.Starts(tenant)
	}
	return census, nil
}

// laneCount is how many jobs of a lane are in a state.
type laneCount struct {
	lane    int32
	state   fairlead.State
	n       int
	startBy int64
}

func (s *Store) countJobs(ctx context.Context) (counts []laneCount, err error) {
	err = s.runPlain(ctx, call{sql: s.sql.Census, restart: func() { counts = nil }, each: func(row sqlstore.Scanner) error {
		var c laneCount
		err := row.Scan(&c.lane, &c.state, &c.n, &c.startBy)
		counts = append(counts, c)
		return err
	}})
	return counts, err
}

// recentStarts is what was started within the window.
func (s *Store) recentStarts(ctx context.Context) (starts []driver.Starts, err error) {
	args := []any{fairlead.UsageWindow.Microseconds(), sqlstore.StartsBucket.Microseconds()}
	err = s.runPlain(ctx, call{sql: s.sql.RecentStarts, args: args, restart: func() { starts = nil }, each: func(row sqlstore.Scanner) error {
		var tenant driver.Starts
		err := row.Scan(&tenant.Tenant, &tenant.Count, &tenant.Missed)
		starts = append(starts, tenant)
		return err
	}})
	return starts, err
}

// Report adds to what was started.
func (s *Store) Report(ctx context.Context, starts []driver.Starts) error {
	if len(starts) == 0 {
		return nil
	}
	tenants, counts, missed := make([]string, len(starts)), make([]int64, len(starts)), make([]int64, len(starts))
	for i, tenant := range starts {
		tenants[i], counts[i], missed[i] = tenant.Tenant, int64(tenant.Count), int64(tenant.Missed)
	}
	bucket := sqlstore.StartsBucket.Microseconds()
	err := s.run(ctx,
		call{sql: s.sql.AddStarts, args: []any{tenants, counts, missed, bucket}},
		call{sql: s.sql.ForgetStarts, args: []any{fairlead.UsageWindow.Microseconds(), bucket}})
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}
