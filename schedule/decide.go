package schedule

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
)

// A schedule decides what it does by pure functions. What they are given comes from
// one transaction of a store, which also carries out what they plan. For an
// instant these questions are asked in this order, and the first answer counts:
//
//	overlap      is an earlier run active?
//	failure      has the last one failed?
//	concurrency  are there as many as may be?
//
// That an instant leads to one thing only is not decided here: the cursor of the
// schedule goes past it in the same transaction.

// Decide plans the schedule's next actions. It admits queued runs for which there is room,
// and handles the instants that have come. An instant is on time if it is at most grace
// late. An older instant was missed. If the stored schedule cannot be read, Decide returns
// an error, but its plan is still valid.
func (s *Schedule) Decide(v View, grace time.Duration) (Plan, error) {
	if err := s.readable(); err != nil {
		return Plan{Cursor: s.Cursor, Standing: v.Standing}, err
	}
	d := newDecision(s, v)
	s = d.schedule
	d.admit()
	if s.Disabled {
		return d.plan, nil
	}
	timing, err := v.timing(s)
	if err != nil {
		return d.plan, err
	}
	if s.Delay > 0 {
		d.afterEnd(timing)
		return d.plan, nil
	}
	now := v.Now.Add(-timing.Offset()) // instants up to here have come
	has := s.arrivals(timing, v, grace)
	d.alertMissed(timing, has.missed, len(has.late))
	has.cut(v.Room)
	for _, due := range has.late {
		d.fire(due, TriggerCatchUp)
	}
	for _, due := range has.come {
		d.fire(due, TriggerCron)
	}
	d.plan.Cursor, d.plan.Standing.Chosen = timing.Cursor(has.next), has.chosen
	switch {
	case has.next.IsZero() && !s.FireAt.IsZero():
		d.plan.Cursor = timing.after(now)
	case !has.chosen.IsZero():
		d.plan.Cursor.FireAt = v.Now // it goes on behind all that are due by now
	}
	return d.plan, nil
}

// readable fails with ErrConflict if what is stored does not say what the schedule is to do.
func (s *Schedule) readable() error {
	if s.Broken == "" {
		return nil
	}
	return fmt.Errorf("schedule %q %s; replace or delete it: %w", s.Name, s.Broken, fairlead.ErrConflict)
}

// Manual plans a run that a user or program requests. The limit on concurrent runs applies
// to it, but earlier runs and failures do not hold it back. If args is nil, the run uses the
// args of the schedule's job template.
func (s *Schedule) Manual(v View, args json.RawMessage) Plan {
	d := newDecision(s, v)
	d.admit()
	d.add(PlannedFire{Due: v.Now, Trigger: TriggerManual, Number: 1, Args: args}, false)
	return d.plan
}

// decision is a plan while it is made.
type decision struct {
	schedule *Schedule
	view     View
	plan     Plan

	running int    // active and not queued, those that are planned too
	queued  []Fire // that wait still
	active  []Fire // stored and not to be cancelled
	skipped bool
}

func newDecision(s *Schedule, v View) *decision {
	s = s.upToDate(v)
	d := &decision{schedule: s, view: v, plan: Plan{Cursor: s.Cursor, Standing: v.Standing}, active: v.Active, skipped: v.Skipped}
	for _, f := range v.Active {
		if f.Queued {
			d.queued = append(d.queued, f)
		} else {
			d.running++
		}
	}
	d.alertEnded()
	return d
}

// full reports whether as many run as may.
func (d *decision) full() bool {
	return d.schedule.MaxConcurrency > 0 && d.running >= d.schedule.MaxConcurrency
}

// admit lets queued runs go as long as there is room, in their order. Those that the
// plan has no room for go when the next run ends or the next instant comes.
func (d *decision) admit() {
	for len(d.queued) > 0 && !d.full() && (d.view.Room == 0 || len(d.plan.Admit) < d.view.Room) {
		d.plan.Admit = append(d.plan.Admit, d.queued[0].Job)
		d.queued = d.queued[1:]
		d.running++
	}
}

// fire decides about an instant that has come.
func (d *decision) fire(due time.Time, trigger Trigger) {
	next := PlannedFire{Due: due, Trigger: trigger, Number: 1}
	failed := d.view.Last != nil && d.view.Last.Failed()
	if failed {
		next.Number = d.view.Last.Number + 1
	}
	beside := false
	if len(d.active) > 0 || d.running > 0 || len(d.queued) > 0 {
		switch d.schedule.Overlap {
		case OverlapSkip:
			d.skip(next, SkipOverlap)
			return
		case OverlapCancel:
			d.replace()
		case OverlapParallel:
			beside = true
		case OverlapAllow:
		}
	}
	if failed {
		switch d.schedule.AfterFailure {
		case FailureSkip:
			if !d.skipped {
				d.skip(next, SkipFailure)
				return
			}
			next.Number = d.view.Last.Number + 2
		case FailureRunNew:
			next.Number = 1
		case FailureRetry:
		}
	}
	d.add(next, beside)
}

// add makes a run of it if there is room, or beside the others.
func (d *decision) add(next PlannedFire, beside bool) {
	// Runs that are queued go first, even if the plan has no room to let them go.
	behind := d.schedule.Concurrency == ConcurrencyQueue && len(d.queued) > 0
	if (d.full() || behind) && !beside {
		switch d.schedule.Concurrency {
		case ConcurrencySkip:
			d.skip(next, SkipConcurrency)
			return
		case ConcurrencyQueue:
			d.queue(next)
			return
		case ConcurrencyParallel:
		}
	}
	d.running++
	d.plan.Fires = append(d.plan.Fires, next)
}

func (d *decision) queue(next PlannedFire) {
	if len(d.queued) >= d.schedule.QueueDepth {
		d.skip(next, SkipConcurrency)
		return
	}
	next.Queued = true
	d.queued = append(d.queued, Fire{Queued: true})
	d.plan.Fires = append(d.plan.Fires, next)
}

func (d *decision) skip(next PlannedFire, why SkipReason) {
	next.Skip = why
	d.skipped = true
	d.plan.Fires = append(d.plan.Fires, next)
}

// replace ends all earlier runs. Those that this very plan would make are not
// made at all.
func (d *decision) replace() {
	for _, f := range d.active {
		d.plan.Cancel = append(d.plan.Cancel, f.Job)
	}
	d.plan.Admit = nil
	for i := range d.plan.Fires {
		if d.plan.Fires[i].Skip == "" {
			d.plan.Fires[i].Skip, d.plan.Fires[i].Queued = SkipOverlap, false
			d.skipped = true
		}
	}
	d.active, d.queued, d.running = nil, nil, 0
}

// afterEnd is the schedule that is due a while after its last run has ended.
func (d *decision) afterEnd(timing *Timing) {
	s := d.schedule
	switch {
	case d.running > 0 || len(d.queued) > 0:
		d.plan.Cursor = timing.Cursor(time.Time{}) // until that has ended
	case s.Due.IsZero() && d.view.Last != nil:
		d.plan.Cursor = timing.afterRun(d.view.Last.EndedAt.Add(s.Delay))
	case s.waits():
		d.plan.Cursor = timing.Begin(s.FireAt)
	}
	if due := d.plan.Cursor; !due.Due.IsZero() && !due.FireAt.After(d.view.Now) {
		d.fire(due.Due, TriggerCron)
		d.plan.Cursor = timing.Cursor(time.Time{})
		if !slices.ContainsFunc(d.plan.Fires, func(f PlannedFire) bool { return f.Skip == "" }) {
			d.plan.Cursor = timing.afterRun(d.view.Now.Add(s.Delay)) // nothing will end
		}
	}
}
