package demo

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/sweep"
)

// Check returns ErrConflict if an object that does not belong to the demo has a name that
// the demo needs. It stores nothing.
func (d *Demo) Check(ctx context.Context) error {
	own, taken, err := d.taken(ctx)
	if err != nil || len(taken) == 0 {
		return err
	}
	if len(own) == 0 {
		// Another node may have begun to store the demo after the tenants were read. It stores
		// the tenants first, so read them again.
		if _, taken, err = d.taken(ctx); err != nil || len(taken) == 0 {
			return err
		}
	}
	return fmt.Errorf("names used by the demo already exist: %s; rename them, or use another database for the demo: %w", strings.Join(taken, ", "), fairlead.ErrConflict)
}

// taken returns the demo's tenants, and the names used by other objects.
func (d *Demo) taken(ctx context.Context) (own, taken []string, err error) {
	own, foreign, err := ownTenants(ctx, d.jobs)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range foreign {
		taken = append(taken, fmt.Sprintf("tenant %q", name))
	}
	for _, find := range []func(ctx context.Context, own []string) ([]string, error){d.takenByUse, d.takenSchedules, d.takenSweep, d.takenUnowned} {
		found, err := find(ctx, own)
		if err != nil {
			return nil, nil, err
		}
		taken = append(taken, found...)
	}
	return own, taken, nil
}

// takenByUse returns the tenants that are in use although none belongs to the demo, whether
// they are declared or not.
func (d *Demo) takenByUse(ctx context.Context, own []string) (taken []string, err error) {
	if len(own) > 0 {
		return nil, nil
	}
	for _, name := range Tenants() {
		used, err := d.uses(ctx, name)
		if err != nil {
			return nil, err
		}
		if used {
			taken = append(taken, fmt.Sprintf("tenant %q, which has jobs", name))
		}
	}
	return taken, nil
}

// uses reports whether a tenant has any objects.
func (d *Demo) uses(ctx context.Context, tenant string) (bool, error) {
	tenants := []string{tenant}
	jobs, err := d.store.Find(ctx, fairlead.Filter{Tenants: tenants, Limit: 1})
	if err != nil || len(jobs) > 0 {
		return true, err
	}
	schedules, err := d.schedules.List(ctx, schedule.Filter{Tenants: tenants, Limit: 1})
	if err != nil || len(schedules) > 0 {
		return true, err
	}
	batches, err := d.batches.List(ctx, batch.Filter{Tenants: tenants, Limit: 1})
	if err != nil || len(batches) > 0 {
		return true, err
	}
	sweeps, err := d.sweeps.List(ctx, sweep.Filter{Tenants: tenants, Limit: 1})
	return len(sweeps) > 0, err
}

// takenSchedules returns the schedules with a name of the demo and another tenant.
func (d *Demo) takenSchedules(ctx context.Context, own []string) (taken []string, err error) {
	names := map[string]string{} // → tenant
	filter := schedule.Filter{}
	for _, declared := range declaredSchedules() {
		names[declared.Name] = declared.Job.Tenant
		filter.Names = append(filter.Names, declared.Name)
	}
	found, err := d.schedules.List(ctx, filter)
	for _, s := range found {
		if !slices.Contains(own, s.Job.Tenant) || s.Job.Tenant != names[s.Name] {
			taken = append(taken, fmt.Sprintf("schedule %q", s.Name))
		}
	}
	return taken, err
}

func (d *Demo) takenSweep(ctx context.Context, own []string) (taken []string, err error) {
	found, err := d.sweeps.List(ctx, sweep.Filter{Names: []string{sweepName}})
	for _, s := range found {
		if !slices.Contains(own, s.Tenant) || s.Tenant != declaredSweep().Tenant {
			taken = append(taken, fmt.Sprintf("sweep %q", s.Name))
		}
	}
	return taken, err
}

// takenUnowned returns the calendar and the paused queue, which have no tenant: they belong
// to the demo if its tenants exist.
func (d *Demo) takenUnowned(ctx context.Context, own []string) (taken []string, err error) {
	if len(own) > 0 {
		return nil, nil
	}
	calendars, err := d.schedules.Calendars(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range calendars {
		if c.Name == calendarName {
			taken = append(taken, fmt.Sprintf("calendar %q", c.Name))
		}
	}
	pauses, err := d.jobs.Pauses(ctx)
	if err != nil {
		return nil, err
	}
	jobs, err := d.store.Find(ctx, fairlead.Filter{Queues: []string{pausedQueue}, Limit: 1})
	if len(jobs) > 0 || slices.Contains(pauses, fairlead.Pause{Scope: fairlead.PauseQueue, Name: pausedQueue}) {
		taken = append(taken, fmt.Sprintf("queue %q", pausedQueue))
	}
	return taken, err
}
