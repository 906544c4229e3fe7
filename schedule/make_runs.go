package schedule

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/envelope"
)

// newRun is a run that is being made.
type newRun struct {
	PlannedFire
	of      *subject
	job     *fairlead.Job
	refusal error // why its job cannot be stored
}

// instant is what the run shares with others by the clock or to catch up.
func (r *newRun) instant() Instant { return Instant{Schedule: r.of.ID, Due: stored(r.Due)} }

// stored is an instant as stores keep it.
func stored(due time.Time) time.Time { return due.UTC().Truncate(time.Microsecond) }

// makeRuns makes the planned runs and their jobs.
func (c *carrying) makeRuns(ctx context.Context) error {
	runs, err := c.newRuns(ctx)
	if err != nil {
		return err
	}
	if err := c.delayOn(runs); err != nil || len(runs) == 0 {
		return err
	}
	if err := c.tx.Number(ctx, jobsOf(runs)); err != nil {
		return err
	}
	if err := c.enqueue(ctx, runs); err != nil {
		return err
	}
	if err := c.record(ctx, runs); err != nil {
		return err
	}
	for _, run := range runs {
		c.outcome.Fires = append(c.outcome.Fires, run.fire(c.sight.Now))
		run.of.Skipped = run.of.Skipped || run.Skip != ""
	}
	return c.tx.AddFires(ctx, c.outcome.Fires)
}

// delayOn lets schedules with a Delay go on of which no planned run is made, because its
// instant has one: nothing of it will end from which they could count. That is so if one is
// saved anew at the very moment of a run.
func (c *carrying) delayOn(runs []*newRun) error {
	for _, s := range c.subjects {
		if s.Delay <= 0 || len(s.plan.Fires) == 0 || slices.ContainsFunc(runs, func(run *newRun) bool { return run.of == s }) {
			continue
		}
		timing, err := NewTiming(&s.Schedule, s.calendar)
		if err != nil {
			return err
		}
		s.plan.Cursor = timing.afterRun(c.sight.Now.Add(s.Delay))
	}
	return nil
}

func jobsOf(runs []*newRun) []*fairlead.Job {
	jobs := make([]*fairlead.Job, len(runs))
	for i, run := range runs {
		jobs[i] = run.job
	}
	return jobs
}

// newRuns returns the planned runs, without those whose instants have one. Nearly always
// an instant is newer than all that a schedule has runs of, and nothing is asked.
func (c *carrying) newRuns(ctx context.Context) ([]*newRun, error) {
	var runs []*newRun
	var doubtful []Instant
	for _, s := range c.subjects {
		for _, planned := range s.plan.Fires {
			run := &newRun{PlannedFire: planned, of: s, job: runOf(&s.Schedule, &planned)}
			runs = append(runs, run)
			if newest, has := c.sight.Newest[s.ID]; has && run.Trigger.Shared() && !run.instant().Due.After(newest) {
				doubtful = append(doubtful, run.instant())
			}
		}
	}
	var found []Instant
	if len(doubtful) > 0 {
		var err error
		if found, err = c.tx.Taken(ctx, doubtful); err != nil {
			return nil, err
		}
	}
	taken := make(map[Instant]bool, len(found))
	for _, instant := range found {
		if instant.Shared {
			taken[Instant{Schedule: instant.Schedule, Due: stored(instant.Due)}] = true
		}
	}
	return slices.DeleteFunc(runs, func(run *newRun) bool {
		if !run.Trigger.Shared() {
			return false
		}
		instant := run.instant()
		has := taken[instant]
		taken[instant] = true
		return has
	}), nil
}

// enqueue stores the jobs that are meant to run.
func (c *carrying) enqueue(ctx context.Context, runs []*newRun) error {
	var meant []*newRun
	for _, run := range runs {
		if run.Args != nil {
			run.refusal = envelope.NormalizeJobs([]*fairlead.Job{run.job})
		}
		switch {
		case run.refusal != nil:
			run.job.Args = nil // they cannot be stored
		case run.Skip == "":
			meant = append(meant, run)
		}
	}
	if len(meant) == 0 {
		return nil
	}
	refused, err := c.tx.Enqueue(ctx, jobsOf(meant))
	for i, refusal := range refused {
		meant[i].refusal = refusal
	}
	return err
}

// record stores the jobs that never run: those that are skipped, and those that were
// refused.
func (c *carrying) record(ctx context.Context, runs []*newRun) error {
	var jobs []EndedJob
	for _, run := range runs {
		switch {
		case run.Skip != "":
			jobs = append(jobs, EndedJob{Job: run.job, State: fairlead.Skipped, Error: string(run.Skip)})
		case run.refusal != nil:
			jobs = append(jobs, EndedJob{Job: run.job, State: fairlead.Failed, Reason: fairlead.ReasonError, Error: run.refusal.Error()})
		}
	}
	if len(jobs) == 0 {
		return nil
	}
	return c.tx.Record(ctx, jobs)
}

// fire is the run as it was made. One that was refused has ended after its schedule was
// decided about: that is news for the next tick.
func (r *newRun) fire(now time.Time) Fire {
	fire := Fire{
		Job: r.job.ID, Schedule: r.of.ID, Due: r.instant().Due, Trigger: r.Trigger, Number: r.Number, Skip: r.Skip, State: fairlead.Ready,
	}
	switch {
	case r.Skip != "":
		fire.State, fire.EndedAt = fairlead.Skipped, now
	case r.refusal != nil:
		fire.State, fire.EndedAt = fairlead.Failed, now
	case r.Queued:
		fire.State, fire.Queued = fairlead.Scheduled, true
	case r.job.ConcurrencyKey != "":
		fire.State = fairlead.Parked
	}
	return fire
}

// runOf is the job of a run. A run is a job of its own or none: where the
// template would keep a job that has its key, the run is refused. A run belongs to
// a trace of its own unless the template names one.
func runOf(s *Schedule, p *PlannedFire) *fairlead.Job {
	job := s.Job
	job.ID, job.NotBefore, job.Status = 0, time.Time{}, fairlead.Status{}
	if p.Args != nil {
		job.Args = p.Args
	}
	if job.Trace == "" && p.Skip == "" {
		job.Trace = newTrace()
	}
	if p.Queued && p.Skip == "" {
		job.NotBefore = fairlead.Never
	}
	if p.Serial != "" {
		job.ConcurrencyKey = p.Serial
	}
	if !p.Order.IsZero() {
		job.StartBy = p.Order
	}
	if job.OnDuplicate == fairlead.KeepDuplicate {
		job.OnDuplicate = fairlead.RefuseDuplicate
	}
	return &job
}

// newTrace is the W3C traceparent of a trace that begins with a run: no caller asked
// for the run who could have begun it. It is sampled, as traces that begin here
// are by default.
func newTrace() string {
	return fmt.Sprintf("00-%016x%016x-%016x-01", rand.Uint64(), rand.Uint64()|1, rand.Uint64()|1) // the ids may not be zero
}
