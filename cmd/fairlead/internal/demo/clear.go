package demo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/sweep"
)

// Clear deletes the demo: all objects that belong to the demo's tenants, and nothing else.
// It calls report with a line of text for each action. If there is no demo, Clear does
// nothing. It returns ErrConflict, before deleting anything, while a node runs the demo or
// another object depends on it.
//
// The store's permanent records remain: audit log entries and used IDs.
func Clear(ctx context.Context, store driver.Store, report func(line string)) error {
	c := &clearing{Demo: New(store, Options{}), report: report}
	var err error
	if c.own, _, err = ownTenants(ctx, c.jobs); err != nil {
		return err
	}
	if len(c.own) == 0 {
		report("no demo found")
		return nil
	}
	if err := c.check(ctx); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{c.removeSchedules, c.settle, c.removeSweeps, c.removeBatches, c.removeJobs, c.removeTenants} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	report("demo removed")
	return nil
}

// clearing is the state of Clear.
type clearing struct {
	*Demo
	own    []string // tenants
	mu     sync.Mutex
	report func(line string) // called by one goroutine at a time
}

func (c *clearing) reportf(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.report(fmt.Sprintf(format, args...))
}

// check returns an error if the demo would be recreated, or is needed by other objects.
func (c *clearing) check(ctx context.Context) error {
	nodes, err := c.jobs.Nodes(ctx)
	if err != nil {
		return err
	}
	for _, node := range nodes {
		if !node.Dead && slices.Contains(node.Kinds, rolloutKind) {
			return fmt.Errorf("node %d (%s) is running the demo; stop it first: %w", node.ID, node.Name, fairlead.ErrConflict)
		}
	}
	err = c.eachTenant(ctx, func(t fairlead.Tenant) error {
		if slices.Contains(c.own, t.Parent) && !slices.Contains(c.own, t.Name) {
			return fmt.Errorf("tenant %q has the demo tenant %q as its parent; change its parent first: %w", t.Name, t.Parent, fairlead.ErrConflict)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return c.eachSchedule(ctx, schedule.Filter{}, func(s schedule.Schedule) error {
		if s.Calendar == calendarName && !slices.Contains(c.own, s.Job.Tenant) {
			return fmt.Errorf("schedule %q uses calendar %q; change the schedule first: %w", s.Name, calendarName, fairlead.ErrConflict)
		}
		return nil
	})
}

func (c *clearing) eachTenant(ctx context.Context, do func(fairlead.Tenant) error) error {
	filter := fairlead.TenantFilter{Limit: page}
	for {
		found, err := c.jobs.Tenants(ctx, filter)
		if err != nil || len(found) == 0 {
			return err
		}
		for _, t := range found {
			if err := do(t); err != nil {
				return err
			}
		}
		filter.After = found[len(found)-1].Name
	}
}

func (c *clearing) eachSchedule(ctx context.Context, filter schedule.Filter, do func(schedule.Schedule) error) error {
	filter.Limit = page
	for {
		found, err := c.schedules.List(ctx, filter)
		if err != nil || len(found) == 0 {
			return err
		}
		for _, s := range found {
			if err := do(s); err != nil {
				return err
			}
		}
		filter.After = found[len(found)-1].Name
	}
}

func (c *clearing) removeSchedules(ctx context.Context) error {
	removed := 0
	err := c.eachSchedule(ctx, schedule.Filter{Tenants: c.own}, func(s schedule.Schedule) error {
		removed++
		return gone(c.schedules.Delete(ctx, s.ID))
	})
	if err != nil {
		return err
	}
	c.reportf("schedules: %d removed", removed)
	if err := c.schedules.DeleteCalendar(ctx, calendarName); err != nil && !errors.Is(err, fairlead.ErrNotFound) {
		return err
	}
	c.reportf("calendar %q: removed", calendarName)
	return nil
}

func (c *clearing) removeSweeps(ctx context.Context) error {
	list := func(ctx context.Context) ([]sweep.Sweep, error) {
		return c.sweeps.List(ctx, sweep.Filter{Tenants: c.own})
	}
	return removeAll(ctx, c, "sweeps", list, func(found sweep.Sweep) error { return c.sweeps.Delete(ctx, found.ID) })
}

func (c *clearing) removeBatches(ctx context.Context) error {
	list := func(ctx context.Context) ([]batch.Batch, error) {
		return c.batches.List(ctx, batch.Filter{Tenants: c.own})
	}
	return removeAll(ctx, c, "batches", list, func(found batch.Batch) error { return c.batches.Delete(ctx, found.ID) })
}

// removeAll deletes the objects of a list until it is empty. Objects deleted by other
// callers in the meantime count too.
func removeAll[Row any](ctx context.Context, c *clearing, what string, list func(context.Context) ([]Row, error), remove func(Row) error) error {
	removed := 0
	for {
		found, err := list(ctx)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			c.reportf("%s: %d removed", what, removed)
			return nil
		}
		for _, row := range found {
			if err := remove(row); err != nil && !errors.Is(err, fairlead.ErrNotFound) {
				return err
			}
			removed++
		}
	}
}

// removeAtOnce is the number of jobs deleted concurrently, each in a separate transaction.
const removeAtOnce = 4

func (c *clearing) removeJobs(ctx context.Context) error {
	var removed atomic.Int64
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(removeAtOnce)
	listed := eachJob(within, c.store, fairlead.Filter{Tenants: c.own, Limit: page}, func(job *fairlead.Job) error {
		group.Go(func() error {
			if err := c.jobs.Delete(within, job.ID); err != nil && !errors.Is(err, fairlead.ErrNotFound) {
				return err
			}
			if n := removed.Add(1); n%1000 == 0 {
				c.reportf("jobs: %d removed so far", n)
			}
			return nil
		})
		return within.Err()
	})
	if err := group.Wait(); err != nil {
		return err
	}
	c.reportf("jobs: %d removed", removed.Load())
	return listed
}

// removeTenants deletes the tenants last, because they identify the rest if Clear is
// interrupted.
func (c *clearing) removeTenants(ctx context.Context) error {
	if err := c.jobs.ResumeQueue(ctx, pausedQueue); err != nil {
		return err
	}
	for _, name := range c.own {
		if err := c.jobs.ResumeTenant(ctx, name); err != nil { // an operator may have paused an undeclared tenant
			return err
		}
		if err := c.jobs.DeleteTenant(ctx, name); err != nil && !errors.Is(err, fairlead.ErrNotFound) {
			return err
		}
	}
	c.reportf("tenants: %d removed", len(c.own))
	return nil
}
