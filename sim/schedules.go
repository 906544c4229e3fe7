package sim

import (
	"context"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead/schedule"
)

// mostCaughtUp is the largest catch-up limit of a schedule. No outage of a scenario is long
// enough to miss more instants.
const mostCaughtUp = 1000

// Schedules configures schedules that create jobs of the scenario: Count schedules, each
// due at every full second of a span.
type Schedules struct {
	Count   int
	Seconds int
}

// Span is the period in which the schedules of a run are due: at its first second and at
// each one after it until, but not including, its end. Both are full seconds of the
// database's clock.
type Span struct {
	From, To Instant
}

// Fired is a run of a schedule in the final database.
type Fired struct {
	Schedule int64
	Due      Instant
	Job      int64
	Trigger  schedule.Trigger
	Skip     schedule.SkipReason
}

// schedule stores the schedules. They begin when all of them are stored. The time for that
// depends on the load of the machine, so if it was too short, schedule starts over with
// twice as much.
func (c *Cluster) schedule(ctx context.Context) error {
	if c.Schedules.Count == 0 {
		return nil
	}
	const ahead, each = time.Second, 3 * time.Millisecond
	for within := ahead + time.Duration(c.Schedules.Count)*each; within < GiveUp; within *= 2 {
		if late, err := c.scheduleWithin(ctx, within); err != nil || late <= 0 {
			return err
		}
		for id := range c.endings {
			if err := c.schedules.Delete(ctx, id); err != nil {
				return fmt.Errorf("delete schedule %d: %w", id, err)
			}
		}
		clear(c.endings)
	}
	return fmt.Errorf("%d schedules cannot be stored within %v", c.Schedules.Count, GiveUp)
}

// scheduleWithin stores the schedules and returns the delay between their beginning and the
// time when all were stored.
func (c *Cluster) scheduleWithin(ctx context.Context, within time.Duration) (late time.Duration, err error) {
	now, err := c.store.Now(ctx)
	if err != nil {
		return 0, err
	}
	from := now.Add(within + time.Second).Truncate(time.Second)
	to := from.Add(time.Duration(c.Schedules.Seconds) * time.Second)
	c.span = Span{InstantOf(from), InstantOf(to)}
	for i := range c.Schedules.Count {
		plan := c.Plan(c.random, c.Node.Lease)
		s := schedule.Schedule{
			Name: fmt.Sprintf("schedule %d", i), StartsAt: from, EndsAt: to, Job: *work.Job(plan),
			CatchUp: schedule.CatchUpFull, CatchUpLimit: min(c.Schedules.Seconds, mostCaughtUp),
		}
		if i%2 == 0 {
			s.Cron = "* * * * * *"
		} else {
			s.Every = time.Second
		}
		stored, err := c.schedules.Put(ctx, s)
		if err != nil {
			return 0, fmt.Errorf("put %s: %w", s.Name, err)
		}
		c.endings[stored.ID] = plan.end()
	}
	now, err = c.store.Now(ctx)
	return now.Sub(from), err
}

// planned reports whether schedules will create more jobs.
func (c *Cluster) planned(ctx context.Context) (bool, error) {
	if c.Schedules.Count == 0 {
		return false, nil
	}
	now, err := c.store.Now(ctx)
	if err != nil || InstantOf(now) < c.span.To {
		return true, err
	}
	const page = 1000
	filter := schedule.Filter{Limit: page}
	for {
		found, err := c.store.Schedules(ctx, filter)
		if err != nil {
			return true, err
		}
		for i := range found {
			if !found[i].Due.IsZero() {
				return true, nil
			}
		}
		if len(found) < page {
			return false, nil
		}
		filter.After = found[len(found)-1].Name
	}
}

// recordFires reads all runs, and sets the expected ends of their jobs according to the
// schedules' plans.
func (c *Cluster) recordFires(ctx context.Context, r *Record) error {
	if c.Schedules.Count == 0 {
		return nil
	}
	r.Span = c.span
	for schedule := range c.endings {
		r.Schedules = append(r.Schedules, schedule)
	}
	const page = 5000
	filter := schedule.FireFilter{Limit: page}
	for {
		fires, err := c.store.Fires(ctx, filter)
		if err != nil {
			return fmt.Errorf("read the runs of schedules: %w", err)
		}
		for _, f := range fires {
			if _, planned := c.endings[f.Schedule]; !planned {
				continue // the runs of these schedules wait for callers, and may be skipped
			}
			r.Fires = append(r.Fires, Fired{Schedule: f.Schedule, Due: InstantOf(f.Due), Job: f.Job, Trigger: f.Trigger, Skip: f.Skip})
			if f.Job != 0 { // otherwise it was skipped
				r.Expected[f.Job], r.Due[f.Job] = c.endings[f.Schedule], InstantOf(f.Due)
			}
		}
		if len(fires) < page {
			return nil
		}
		filter.Below = fires[len(fires)-1].Job
	}
}

// oneRunEach checks that every schedule has one run for every second of the span, and no
// other runs.
func (c *check) oneRunEach() {
	const second = Instant(time.Second / time.Microsecond)
	type instant struct {
		schedule int64
		due      Instant
	}
	runs := map[instant]int{}
	for _, f := range c.Fires {
		runs[instant{f.Schedule, f.Due}]++
		switch f.Trigger {
		case schedule.TriggerCron:
		case schedule.TriggerCatchUp:
			c.figures.CaughtUp++
		default:
			c.violated(TriggerNotAsked, f.Job, "schedule %d has a run by %s, which was not asked for", f.Schedule, f.Trigger)
		}
		if f.Skip != "" {
			c.violated(InstantSkipped, f.Job, "schedule %d skipped the instant %d: %s", f.Schedule, f.Due, f.Skip)
		}
	}
	c.figures.Fires = len(c.Fires)
	for _, schedule := range c.Schedules {
		for due := c.Span.From; due < c.Span.To; due += second {
			at := instant{schedule, due}
			n, fault := runs[at], InstantTwice
			if n == 0 {
				fault = InstantMissed
			}
			if n != 1 {
				c.violated(fault, 0, "schedule %d has %d runs of the instant %d, second %d of %d", schedule, n, due, (due-c.Span.From)/second, (c.Span.To-c.Span.From)/second)
			}
			delete(runs, at)
		}
	}
	for at, n := range runs {
		c.violated(InstantNotDue, 0, "schedule %d has %d runs of the instant %d, at which it was not due", at.schedule, n, at.due)
	}
}
