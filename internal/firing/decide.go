package firing

import (
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
)

// Decide plans what a schedule does now: it lets queued runs go for which there
// is room, and acts upon the instants that have come. An instant that is up to
// grace late is on time; what is older was missed.
func Decide(s fairlead.Schedule, v fairlead.View, grace time.Duration) (fairlead.Plan, error) {
	d := newDecision(&s, v)
	d.admit()
	if !s.Enabled {
		return d.plan, nil
	}
	timing, err := NewTiming(&s, v.Calendar)
	if err != nil {
		return d.plan, err
	}
	if s.Delay > 0 {
		d.afterEnd(timing)
		return d.plan, nil
	}
	now := v.Now.Add(-timing.offset()) // instants up to here have come
	missed, come := timing.come(s.Due, now, grace)
	for _, due := range caughtUp(&s, timing, missed, v.Now) {
		d.fire(due, fairlead.TriggerCatchUp)
	}
	for _, due := range come {
		d.fire(due, fairlead.TriggerCron)
	}
	d.plan.Cursor = timing.Cursor(timing.after(s.Due, now))
	return d.plan, nil
}

// Manual plans a run that somebody asks for: neither an earlier run nor a failure
// keep it back, but how many may run at once does.
func Manual(s fairlead.Schedule, v fairlead.View, args []byte) fairlead.Plan {
	d := newDecision(&s, v)
	d.admit()
	d.add(fairlead.PlannedFire{Due: v.Now, Trigger: fairlead.TriggerManual, Number: 1, Args: args}, false)
	return d.plan
}

// decision is a plan while it is made.
type decision struct {
	schedule *fairlead.Schedule
	view     fairlead.View
	plan     fairlead.Plan

	running int             // active and not queued, those that are planned too
	queued  []fairlead.Fire // that wait still
	active  []fairlead.Fire // stored and not to be cancelled
	skipped bool
}

func newDecision(s *fairlead.Schedule, v fairlead.View) *decision {
	d := &decision{schedule: s, view: v, plan: fairlead.Plan{Cursor: s.Cursor}, active: v.Active, skipped: v.Skipped}
	for _, f := range v.Active {
		if f.Queued {
			d.queued = append(d.queued, f)
		} else {
			d.running++
		}
	}
	return d
}

// full tells whether as many run as may.
func (d *decision) full() bool {
	return d.schedule.MaxConcurrency > 0 && d.running >= d.schedule.MaxConcurrency
}

// admit lets queued runs go as long as there is room, in their order.
func (d *decision) admit() {
	for len(d.queued) > 0 && !d.full() {
		d.plan.Admit = append(d.plan.Admit, d.queued[0].Job)
		d.queued = d.queued[1:]
		d.running++
	}
}

// fire decides about an instant that has come.
func (d *decision) fire(due time.Time, trigger fairlead.Trigger) {
	next := fairlead.PlannedFire{Due: due, Trigger: trigger, Number: 1}
	failed := d.view.Last != nil && d.view.Last.Failed()
	if failed {
		next.Number = d.view.Last.Number + 1
	}
	beside := false
	if len(d.active) > 0 || d.running > 0 || len(d.queued) > 0 {
		switch d.schedule.Overlap {
		case fairlead.OverlapSkip:
			d.skip(next, fairlead.SkipOverlap)
			return
		case fairlead.OverlapCancel:
			d.replace()
		case fairlead.OverlapParallel:
			beside = true
		case fairlead.OverlapAllow:
		}
	}
	if failed {
		switch d.schedule.AfterFailure {
		case fairlead.FailureSkip:
			if !d.skipped {
				d.skip(next, fairlead.SkipFailure)
				return
			}
			next.Number = d.view.Last.Number + 2
		case fairlead.FailureRunNew:
			next.Number = 1
		case fairlead.FailureRetry:
		}
	}
	d.add(next, beside)
}

// add makes a run of it if there is room, or beside the others.
func (d *decision) add(next fairlead.PlannedFire, beside bool) {
	if d.full() && !beside {
		switch d.schedule.Concurrency {
		case fairlead.ConcurrencySkip:
			d.skip(next, fairlead.SkipConcurrency)
			return
		case fairlead.ConcurrencyQueue:
			d.queue(next)
			return
		case fairlead.ConcurrencyParallel:
		}
	}
	d.running++
	d.plan.Fires = append(d.plan.Fires, next)
}

func (d *decision) queue(next fairlead.PlannedFire) {
	if len(d.queued) >= d.schedule.QueueDepth {
		d.skip(next, fairlead.SkipConcurrency)
		return
	}
	next.Queued = true
	d.queued = append(d.queued, fairlead.Fire{Queued: true})
	d.plan.Fires = append(d.plan.Fires, next)
}

func (d *decision) skip(next fairlead.PlannedFire, why fairlead.SkipReason) {
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
			d.plan.Fires[i].Skip, d.plan.Fires[i].Queued = fairlead.SkipOverlap, false
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
		d.plan.Cursor = fairlead.Cursor{} // until that has ended
	case s.Due.IsZero() && d.view.Last != nil:
		d.plan.Cursor = timing.Cursor(d.view.Last.EndedAt.Add(s.Delay))
		if !s.EndsAt.IsZero() && !d.plan.Cursor.Due.Before(s.EndsAt) {
			d.plan.Cursor = fairlead.Cursor{}
		}
	}
	if due := d.plan.Cursor; !due.Due.IsZero() && !due.FireAt.After(d.view.Now) {
		d.fire(due.Due, fairlead.TriggerCron)
		d.plan.Cursor = fairlead.Cursor{}
		if !slices.ContainsFunc(d.plan.Fires, func(f fairlead.PlannedFire) bool { return f.Skip == "" }) {
			d.plan.Cursor = timing.Cursor(d.view.Now.Add(s.Delay)) // nothing will end
		}
	}
}
