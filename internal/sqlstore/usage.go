package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/hold"
)

// startsBucket is the part of a UsageWindow whose starts are counted in one row.
const startsBucket = hold.SampleEvery

// everyTenant is the page size for a list of all tenants.
const everyTenant = math.MaxInt32

// usageStore counts the jobs and starts of tenants, queues and kinds.
type usageStore struct {
	db     Database
	sql    *UsageStatements
	clock  *ClockStatements
	of     usageSource
	recent recentUsage
}

// usageSource is the part of a store that usageStore uses in addition to its statements.
type usageSource interface {
	Tenants(ctx context.Context, filter fairlead.TenantFilter) ([]fairlead.Tenant, error)
	Limits(ctx context.Context) ([]fairlead.LimitUse, error)
	// NameLane returns the key of the lane of jobs that were just read.
	NameLane(ctx context.Context, db DB, id int32) (LaneKey, error)
}

// UsageStatements holds the SQL statements of usageStore.
type UsageStatements struct {
	Census       string `sql:"census"`
	HeldKinds    string `sql:"held_kinds"`
	Overtakers   string `sql:"overtakers"`
	RecentStarts string `sql:"recent_starts"`
	AddStarts    string `sql:"add_starts"`
	ForgetStarts string `sql:"forget_starts"`
	AddMissed    string `sql:"add_missed"`
}

// Usage reports the jobs and starts in total and for each tenant, queue and kind.
func (s *usageStore) Usage(ctx context.Context) (fairlead.UsageReport, error) {
	return s.recent.Report(ctx, func() (fairlead.UsageReport, error) {
		tenants, err := s.of.Tenants(ctx, fairlead.TenantFilter{Limit: everyTenant})
		if err != nil {
			return fairlead.UsageReport{}, fmt.Errorf("usage: %w", err)
		}
		limits, err := s.of.Limits(ctx)
		if err != nil {
			return fairlead.UsageReport{}, fmt.Errorf("usage: %w", err)
		}
		var counted *census
		err = s.db.ReadAll(ctx, "usage", func(ctx context.Context, db DB) (err error) {
			counted, err = s.count(ctx, db, tenants)
			return err
		})
		if err != nil {
			return fairlead.UsageReport{}, err
		}
		counted.limits(limits)
		return counted.report(), nil
	})
}

// laneCount is the number of jobs of a lane in a state.
type laneCount struct {
	lane    int32
	state   fairlead.State
	n       int
	startBy int64
}

func scanLaneCount(row Scanner) (c laneCount, err error) {
	err = row.Scan(&c.lane, &c.state, &c.n, &c.startBy)
	return c, err
}

// count counts the unfinished jobs and the recent starts.
func (s *usageStore) count(ctx context.Context, db DB, tenants []fairlead.Tenant) (*census, error) {
	now, err := s.clock.Clock(ctx, db)
	if err != nil {
		return nil, err
	}
	counts := queueList(db, scanLaneCount, s.sql.Census)
	starts, err := s.sql.readStarts(ctx, db, now)
	if err != nil {
		return nil, err
	}
	counted := newCensus(Time(now), tenants)
	for _, c := range *counts {
		lane, err := s.of.NameLane(ctx, db, c.lane)
		if err != nil {
			return nil, err
		}
		counted.count(lane, c.state, c.n, Time(c.startBy))
	}
	for _, tenant := range starts {
		counted.starts(tenant)
	}
	return counted, nil
}

// readStarts reads the starts within the window before now.
func (s *UsageStatements) readStarts(ctx context.Context, db DB, now int64) ([]driver.Starts, error) {
	return list(ctx, db, func(row Scanner) (tenant driver.Starts, err error) {
		err = row.Scan(&tenant.Tenant, &tenant.Count, &tenant.Missed)
		return tenant, err
	}, s.RecentStarts, OldestBucket(now))
}

// OldestBucket returns the bucket with the oldest starts that are still in the window.
func OldestBucket(now int64) int64 {
	return (now - fairlead.UsageWindow.Microseconds()) / startsBucket.Microseconds()
}

// Report adds to the counts of starts. It updates the rows in the order in which all
// transactions lock them.
func (s *usageStore) Report(ctx context.Context, starts []driver.Starts) error {
	if len(starts) == 0 {
		return nil
	}
	tenants, missed := startedRows(starts)
	return s.db.InTx(ctx, "report", func(_ context.Context, db DB) error {
		db.Queue(s.sql.AddStarts, tenants)
		db.Queue(s.sql.ForgetStarts)
		db.Queue(s.sql.AddMissed, missed)
		return nil
	})
}

// startedRows returns the starts by tenant and the late starts by lane.
func startedRows(starts []driver.Starts) (tenants, missed *Rows) {
	tenants, missed = &Rows{}, &Rows{}
	byTenant := map[string]driver.Starts{}
	late := slices.DeleteFunc(slices.Clone(starts), func(of driver.Starts) bool {
		sum := byTenant[of.Tenant]
		byTenant[of.Tenant] = driver.Starts{Count: sum.Count + of.Count, Missed: sum.Missed + of.Missed}
		return of.Missed == 0
	})
	for _, tenant := range slices.Sorted(maps.Keys(byTenant)) {
		tenants.Add(tenant, int64(byTenant[tenant].Count), int64(byTenant[tenant].Missed))
	}
	slices.SortFunc(late, func(a, b driver.Starts) int {
		return cmp.Or(cmp.Compare(a.Queue, b.Queue), cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.Kind, b.Kind))
	})
	for _, of := range late {
		missed.Add(of.Queue, of.Tenant, of.Kind, int64(of.Missed))
	}
	return tenants, missed
}
