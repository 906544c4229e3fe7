package storetest

import (
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/schedule"
)

// keeping assigns a calendar to a schedule, and a cursor computed with the calendar.
func keeping(calendar schedule.Calendar) func(*schedule.Schedule) {
	return func(s *schedule.Schedule) { s.Calendar, s.CalendarVersion = calendar.Name, calendar.Version }
}

// changeDays replaces a calendar and returns it as stored.
func (f *fixture) changeDays(calendar schedule.Calendar, dates ...string) schedule.Calendar {
	f.Helper()
	calendar.Dates = dates
	return f.calendar(calendar)
}

// later gives a schedule a cursor in the future.
func (f *fixture) later(s *schedule.Schedule) {
	version := s.CalendarVersion
	s.Cursor = at(f.now().Add(time.Hour))
	s.CalendarVersion = version
}

func testChangedCalendars(c *chapter) {
	c.test("the version of the calendar that a cursor was computed with is kept with it", func(f *fixture) {
		calendar := f.calendar(schedule.Calendar{Name: "c"})
		s := f.plan("s", keeping(calendar), f.later)
		f.equal("the cursor", f.schedule(s.ID).Cursor, s.Cursor)
		f.equal("its version", s.CalendarVersion, calendar.Version)
		f.equal("whether it is outdated", s.Outdated, false)
		f.wantSeen(enough, leave)
	})
	c.test("a schedule is listed as outdated from the change of its calendar on", func(f *fixture) {
		calendar := f.calendar(schedule.Calendar{Name: "c"})
		other := f.calendar(schedule.Calendar{Name: "other"})
		s, untouched, free := f.plan("s", keeping(calendar)), f.plan("untouched", keeping(other)), f.plan("free")
		f.changeDays(calendar, "01-01")
		f.equal("the one that keeps it", f.schedule(s.ID).Outdated, true)
		f.equal("one of another calendar", f.schedule(untouched.ID).Outdated, false)
		f.equal("one of none", f.schedule(free.ID).Outdated, false)
		f.equal("as another process lists it", f.elsewhere().schedule(s.ID).Outdated, true)
	})
	c.test("a schedule that is stored with a cursor of another version is outdated", func(f *fixture) {
		calendar := f.calendar(schedule.Calendar{Name: "c"})
		s := f.hourly("s", keeping(calendar), f.later)
		f.changeDays(calendar, "01-01")
		stored := f.put(s)
		f.equal("as answered", stored.Outdated, true)
		f.equal("as listed", f.schedule(stored.ID).Outdated, true)
		f.wantSeen(enough, leave, "s")
	})
	c.test("a schedule that is given another calendar, or none, is outdated unless restart says so", func(f *fixture) {
		one, other := f.calendar(schedule.Calendar{Name: "one"}), f.calendar(schedule.Calendar{Name: "other"})
		s := f.plan("s", keeping(other), f.later)
		s.Calendar = "one"
		s = f.put(s)
		f.equal("whether it is outdated", s.Outdated, true)
		f.wantSeen(enough, leave, "s")
		s.Calendar, s.CalendarVersion = "other", other.Version
		s, err := f.tryPut(s, true)
		f.ok(err)
		f.equal("whether it is outdated", s.Outdated, false)
		f.equal("the version", f.schedule(s.ID).CalendarVersion, other.Version)
		s.Calendar = ""
		f.equal("whether it is outdated without one", f.put(s).Outdated, true)
		_ = one
	})
	c.test("Tick takes a schedule whose calendar has changed though it is not due, once", func(f *fixture) {
		calendar := f.calendar(schedule.Calendar{Name: "c"})
		s := f.plan("s", keeping(calendar), f.later)
		f.plan("free", f.later)
		f.wantSeen(enough, leave)
		calendar = f.changeDays(calendar, "01-01")
		var told schedule.Schedule
		f.wantSeen(enough, func(s schedule.Schedule, view schedule.View) schedule.Plan {
			told = s
			f.equal("the calendar", view.Calendar, &calendar)
			return leave(s, view)
		}, "s")
		f.equal("the cursor that decide was told", told.Cursor, s.Cursor)
		f.wantSeen(enough, leave)
		f.equal("the version", f.schedule(s.ID).CalendarVersion, calendar.Version)
		f.equal("whether it is outdated", f.schedule(s.ID).Outdated, false)
	})
	c.test("what it then plans counts, whatever version decide has put into it", func(f *fixture) {
		calendar := f.calendar(schedule.Calendar{Name: "c"})
		s := f.plan("s", keeping(calendar), f.later)
		calendar = f.changeDays(calendar, "01-01")
		sooner := at(f.now().Add(time.Minute))
		f.tick(func(schedule.Schedule, schedule.View) schedule.Plan { return schedule.Plan{Cursor: sooner} })
		sooner.CalendarVersion = calendar.Version
		f.equal("the cursor", f.schedule(s.ID).Cursor, sooner)
	})
	c.test("Act brings a schedule up to date as well", func(f *fixture) {
		calendar := f.calendar(schedule.Calendar{Name: "c"})
		s := f.plan("s", keeping(calendar), f.later)
		f.changeDays(calendar, "01-01")
		f.act(s, schedule.Plan{Cursor: s.Cursor})
		f.equal("whether it is outdated", f.schedule(s.ID).Outdated, false)
		f.wantSeen(enough, leave)
	})
	c.test("it takes one that is disabled, too", func(f *fixture) {
		calendar := f.calendar(schedule.Calendar{Name: "c"})
		f.plan("s", keeping(calendar), f.later, disabled)
		f.changeDays(calendar, "01-01")
		f.wantSeen(enough, leave, "s")
		f.wantSeen(enough, leave)
	})
	c.test("it does not take one that was deleted", func(f *fixture) {
		calendar := f.calendar(schedule.Calendar{Name: "c"})
		s := f.plan("s", keeping(calendar), f.later)
		f.changeDays(calendar, "01-01")
		f.ok(f.store.DeleteSchedule(f.ctx(), s.ID))
		f.wantSeen(enough, leave)
	})
	c.test("of very many it takes at most limit, tells that some are left, and another process goes on", func(f *fixture) {
		calendar := f.calendar(schedule.Calendar{Name: "c"})
		for i := range 7 {
			f.plan(fmt.Sprint("s", i), keeping(calendar), f.later)
		}
		f.changeDays(calendar, "01-01")
		ticked := f.tickSome(3, leave)
		f.equal("the schedules", ticked.Schedules, 3)
		f.equal("what is next", ticked.Next, time.Duration(0))
		seen := ticked.Schedules
		g := f.elsewhere()
		for range 7 {
			seen += g.tickSome(3, leave).Schedules
		}
		f.equal("all that were taken", seen, 7)
	})
	for version, step := range map[string]int64{"an older": -1, "a newer": 1} {
		c.test(named("schedules that are up to date or deleted keep it from none that was computed with", version, "version of its calendar"), func(f *fixture) {
			older, calendar, newer := f.calendar(schedule.Calendar{Name: "a"}), f.calendar(schedule.Calendar{Name: "c"}), f.calendar(schedule.Calendar{Name: "b"})
			late := func(s *schedule.Schedule) { s.Calendar, s.CalendarVersion = "c", calendar.Version+step }
			for i := range 3 {
				f.plan(fmt.Sprint("older", i), keeping(older), f.later)
				f.plan(fmt.Sprint("same", i), keeping(calendar), f.later)
				f.plan(fmt.Sprint("newer", i), keeping(newer), f.later)
				f.ok(f.store.DeleteSchedule(f.ctx(), f.plan(fmt.Sprint("deleted", i), late, f.later).ID))
			}
			f.plan("late", late, f.later)
			f.plan("late, too", late, f.later)
			f.wantSeen(2, leave, "late", "late, too")
			f.wantSeen(2, leave)
		})
	}
	c.test("each of them is taken by one of many at once", func(f *fixture) {
		calendar := f.calendar(schedule.Calendar{Name: "c"})
		for i := range 40 {
			f.plan(fmt.Sprint("s", i), keeping(calendar), f.later)
		}
		f.changeDays(calendar, "01-01")
		f.share(40, func(store Store) (int, error) {
			ticked, err := store.Tick(f.ctx(), enough, leave)
			return ticked.Schedules, err
		})
	})
	c.test("many calendars that have changed are all found", func(f *fixture) {
		for i := range 12 {
			calendar := f.calendar(schedule.Calendar{Name: fmt.Sprint("c", i)})
			f.plan(fmt.Sprint("s", i), keeping(calendar), f.later)
			if i%2 == 0 {
				f.changeDays(calendar, "01-01")
			}
		}
		seen := 0
		for range 6 {
			seen += f.tick(leave).Schedules
		}
		f.equal("the schedules that were taken", seen, 6)
	})
	c.test("nodes are woken for a calendar that was changed", func(f *fixture) {
		calendar := f.calendar(schedule.Calendar{Name: "c"})
		l := f.listen(everything())
		f.changeDays(calendar, "01-01")
		if !l.heard(driver.WakeLater, patient) {
			f.Fatal("no node was woken")
		}
	})
	c.test("UpdatedAt of a calendar is when it was stored", func(f *fixture) {
		calendar := f.calendar(schedule.Calendar{Name: "c", UpdatedAt: f.now().Add(-time.Hour)})
		f.equal("when it was made", calendar.UpdatedAt, f.now())
		f.Advance(time.Hour)
		f.equal("when it was changed", f.changeDays(calendar).UpdatedAt, f.now())
		f.equal("as listed", f.calendars()[0].UpdatedAt, f.now())
	})
}
