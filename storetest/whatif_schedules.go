package storetest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/schedule"
)

// whatFires calls WhatIf like users do.
func (f *fixture) whatFires(changes ...schedule.Change) (schedule.Forecast, error) {
	f.Helper()
	return schedule.NewClient(f.store).WhatIf(f.ctx(), schedule.WhatIf{Changes: changes, Instants: 4})
}

func testWhatIfFires(c *chapter) {
	c.testSeeds("what was foreseen of instants is what becomes of them after the change", testFiresHappen)
	c.test("asking what would become of instants changes nothing", func(f *fixture) {
		calendar := f.calendar(schedule.Calendar{Name: "c"})
		s := f.midnightly()
		f.await(f.midnight(0))
		before, runs := f.schedule(s.ID), f.fires(s.ID)
		changed := before
		changed.Daily, changed.Overlap = "12:00", schedule.OverlapCancel
		calendar.Dates = []string{date(f.midnight(0))}
		_, err := f.whatFires(schedule.Change{Schedule: &changed}, schedule.Change{Calendar: &calendar})
		f.ok(err)
		f.equal("the schedule", f.schedule(s.ID), before)
		f.equal("its runs", f.fires(s.ID), runs)
		f.equal("the calendars", f.calendars()[0].Dates, []string(nil))
	})
	c.test("a calendar that would change is compared for all schedules that name it", func(f *fixture) {
		first, second := f.midnight(0), f.midnight(1)
		calendar := f.calendar(schedule.Calendar{Name: "c"})
		f.midnightly()
		f.midnightly(func(s *schedule.Schedule) { s.Name, s.Calendar = "another", "" })
		calendar.Dates = []string{date(first)}
		forecast, err := f.whatFires(schedule.Change{Calendar: &calendar})
		f.ok(err)
		f.equal("how many are compared", len(forecast.Schedules), 1)
		s := forecast.Schedules[0]
		f.equal("how many instants change", [2]int{s.Moved, len(s.Instants)}, [2]int{1, 4})
		f.equal("the first instant", s.Instants[0], schedule.InstantForecast{Due: first, Effect: schedule.Disappears, Before: &schedule.Prospect{FireAt: first, Trigger: schedule.TriggerCron}})
		runs := &schedule.Prospect{FireAt: second, Trigger: schedule.TriggerCron}
		f.equal("the second instant", s.Instants[1], schedule.InstantForecast{Due: second, Before: runs, After: runs})
		f.equal("the text", s.Text, []string{`schedule "s": 1 of its next 4 fires would change`, first.Format(time.RFC3339) + " is removed"})
	})
	c.test("what becomes of an instant depends on the runs that are active", func(f *fixture) {
		s := f.midnightly(func(s *schedule.Schedule) { s.Calendar = "" })
		f.await(f.midnight(0))
		f.claimOne(f.joinFor(100 * 24 * time.Hour))
		for overlap, want := range map[schedule.Overlap]string{
			schedule.OverlapSkip:   "is skipped because an earlier run is active",
			schedule.OverlapCancel: "replaces 1 active runs",
		} {
			changed := f.schedule(s.ID)
			changed.Overlap = overlap
			forecast, err := f.whatFires(schedule.Change{Schedule: &changed})
			f.ok(err)
			f.equal("the first instant", forecast.Schedules[0].Instants[0].After.Words(), want)
			f.equal("its effect", forecast.Schedules[0].Instants[0].Effect, schedule.Becomes)
		}
	})
	c.test("instants of a schedule that would be new appear", func(f *fixture) {
		forecast, err := f.whatFires(schedule.Change{Schedule: &schedule.Schedule{Name: "new", Daily: "00:00", Job: *plain()}})
		f.ok(err)
		f.equal("how many appear", [2]int{forecast.Schedules[0].Moved, len(forecast.Schedules[0].Instants)}, [2]int{4, 4})
		f.equal("the schedules", f.schedules(schedule.Filter{}), []schedule.Schedule(nil))
	})
	c.test("asking about schedules and calendars fails as saving does", func(f *fixture) {
		client := schedule.NewClient(f.store)
		calendar := f.calendar(schedule.Calendar{Name: "c"})
		s := f.midnightly()
		f.midnightly(func(s *schedule.Schedule) { s.Name = "another" })
		with := func(change func(*schedule.Schedule)) schedule.Schedule {
			changed := s
			change(&changed)
			return changed
		}
		for _, changed := range []schedule.Schedule{
			with(func(s *schedule.Schedule) { s.Daily = "at noon" }),
			with(func(s *schedule.Schedule) { s.Calendar = "none" }),
			with(func(s *schedule.Schedule) { s.Calendar, s.Disabled = "none", true }),
			with(func(s *schedule.Schedule) { s.Name = "another" }),
			with(func(s *schedule.Schedule) { s.Version++ }),
			with(func(s *schedule.Schedule) { s.ID = noJob }),
			with(func(s *schedule.Schedule) { s.ID, s.Version = 0, 0 }),
		} {
			_, saving := client.Put(f.ctx(), changed)
			_, asking := f.whatFires(schedule.Change{Schedule: &changed})
			f.wantSameRefusal(saving, asking)
		}
		for _, changed := range []schedule.Calendar{
			{Name: "c", Version: calendar.Version, Dates: []string{"noon"}}, {Name: "c"}, {Name: "c", Version: calendar.Version + 1}, {Name: "none", Version: 1},
		} {
			_, saving := client.PutCalendar(f.ctx(), changed)
			_, asking := f.whatFires(schedule.Change{Calendar: &changed})
			f.wantSameRefusal(saving, asking)
		}
	})
}

// wantSameRefusal checks that asking fails with the same error as saving, except for the
// store's description of the action.
func (f *fixture) wantSameRefusal(saving, asking error) {
	f.Helper()
	if saving == nil || asking == nil {
		f.Fatalf("saving says %v, asking %v", saving, asking)
	}
	for _, kind := range []error{fairlead.ErrInvalid, fairlead.ErrConflict, fairlead.ErrNotFound} {
		f.equal(fmt.Sprintf("whether asking says %q", kind), errors.Is(asking, kind), errors.Is(saving, kind))
	}
	if !strings.HasSuffix(saving.Error(), asking.Error()) {
		f.Errorf("saving says %q, asking %q", saving, asking)
	}
}
