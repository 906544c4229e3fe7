package interleave

import (
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/schedule"
)

// scheduleSubjects returns schedules that are due, under each policy. Their job is an earlier run.
func scheduleSubjects() []Subject {
	on, run := []Trait{hasSchedule}, []Trait{hasJob, hasRun, hasSchedule}
	active := func(change func(*schedule.Schedule)) func(s *scene) error {
		return func(s *scene) error {
			return s.run(s.scheduled(change), s.minute, s.tick, s.leasedTask, s.minute)
		}
	}
	return []Subject{
		{"a due schedule", on, func(s *scene) error { return s.run(s.scheduled(nil), s.minute) }},
		{"a due schedule with a calendar", []Trait{hasSchedule, hasCalendar}, func(s *scene) error {
			return s.run(s.calendar, s.scheduled(func(d *schedule.Schedule) { d.Calendar = "holidays" }), s.minute)
		}},
		{"a due schedule, an earlier run is running", run, active(nil)},
		{"a due schedule that cancels the earlier run", run, active(func(d *schedule.Schedule) { d.Overlap = schedule.OverlapCancel })},
		{"a due schedule that skips", run, active(func(d *schedule.Schedule) { d.Overlap = schedule.OverlapSkip })},
		{"a due schedule that queues", run, active(func(d *schedule.Schedule) { d.MaxConcurrency = 1 })},
		{"a schedule with a queued run", run, func(s *scene) error {
			return s.run(s.scheduled(func(d *schedule.Schedule) { d.MaxConcurrency = 1 }), s.minute, s.tick, s.leasedTask, s.minute, s.tick)
		}},
		{"a schedule with a failed run that retries", append(run, hasEnded), func(s *scene) error {
			return s.run(s.scheduled(func(d *schedule.Schedule) { d.AfterFailure = schedule.FailureRetry }), s.minute, s.tick, s.leasedTask, func() error {
				return s.settled(fairlead.Settlement{Move: fairlead.Fail, Reason: fairlead.ReasonError, Error: "no luck"})
			}, s.minute)
		}},
		{"a due schedule with a key", []Trait{hasSchedule, hasKey}, func(s *scene) error {
			return s.run(s.scheduled(func(d *schedule.Schedule) { d.Job.Key = "k" }), s.minute)
		}},
	}
}

// scheduled stores a schedule that is due every minute.
func (s *scene) scheduled(change func(*schedule.Schedule)) func() error {
	return func() error {
		d := schedule.Schedule{Name: "every minute", Every: time.Minute, StartsAt: s.now(), Job: fairlead.Job{Kind: kind}}
		if change != nil {
			change(&d)
		}
		stored, err := schedule.NewClient(s.store).Put(s.ctx, d)
		s.schedule = stored.ID
		s.label("the schedule", stored.ID)
		return err
	}
}

func (s *scene) calendar() error {
	_, err := schedule.NewClient(s.store).PutCalendar(s.ctx, schedule.Calendar{Name: "holidays", Dates: []string{"12-25"}})
	return err
}

// minute lets a minute pass.
func (s *scene) minute() error { return s.later(time.Minute) }

// tick lets due schedules start their runs.
func (s *scene) tick() error { return tick(&cue{scene: s, ctx: s.ctx, store: s.store}) }

func tick(c *cue) error {
	var broken error
	_, err := c.store.Tick(c.ctx, 100, func(d schedule.Schedule, v schedule.View) schedule.Plan {
		plan, err := d.Decide(v, 2*lease)
		if err != nil {
			broken = fmt.Errorf("decide about %s: %w", d.Name, err)
		}
		return plan
	})
	if err == nil {
		err = broken
	}
	return err
}

// scheduleActors returns the operations on schedules.
func scheduleActors() []Actor {
	on := []Trait{hasSchedule}
	act := func(do func(c *cue, schedules *schedule.Client) error) func(c *cue) string {
		return func(c *cue) string { return verdict(do(c, schedule.NewClient(c.store))) }
	}
	put := func(change func(*schedule.Schedule)) func(c *cue) string {
		return func(c *cue) string {
			d := c.planned
			change(&d)
			_, err := c.store.PutSchedule(c.ctx, d, false)
			return verdict(err)
		}
	}
	return []Actor{
		{Name: "tick", On: on, Repeats: true, Do: func(c *cue) string { return verdict(tick(c)) }},
		{Name: "trigger the schedule", On: on, Waits: true, Do: act(func(c *cue, s *schedule.Client) error {
			_, err := s.Trigger(c.ctx, c.schedule, nil)
			return err
		})},
		{Name: "backfill the schedule", On: on, Waits: true, Steps: true, Do: act(func(c *cue, s *schedule.Client) error {
			_, err := s.Backfill(c.ctx, c.schedule, schedule.Backfill{From: c.now().Add(-3 * time.Minute), To: c.now().Add(-2 * time.Minute)})
			return err
		})},
		{Name: "change the schedule", On: on, Waits: true, Do: put(func(d *schedule.Schedule) { d.Job.Priority = 3 })},
		{Name: "let the schedule skip", On: on, Waits: true, Do: put(func(d *schedule.Schedule) { d.Overlap = schedule.OverlapSkip })},
		{Name: "disable the schedule", On: on, Waits: true, Do: put(func(d *schedule.Schedule) { d.Disabled = true })},
		{Name: "delete the schedule", On: on, Waits: true, Do: act(func(c *cue, s *schedule.Client) error { return s.Delete(c.ctx, c.schedule) })},
		{Name: "change the calendar", On: []Trait{hasCalendar}, Waits: true, Do: func(c *cue) string {
			_, err := c.store.PutCalendar(c.ctx, schedule.Calendar{Name: "holidays", Dates: []string{"05-06"}})
			return verdict(err)
		}},
	}
}
