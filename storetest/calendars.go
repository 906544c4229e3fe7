package storetest

import (
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/schedule"
)

// calendar stores a calendar and returns it as stored.
func (f *fixture) calendar(calendar schedule.Calendar) schedule.Calendar {
	f.Helper()
	stored, err := f.store.PutCalendar(f.ctx(), calendar)
	f.ok(err)
	return stored
}

func (f *fixture) calendars() []schedule.Calendar {
	f.Helper()
	calendars, err := f.store.Calendars(f.ctx())
	f.ok(err)
	return calendars
}

// keepingC assigns the calendar c to a schedule.
func keepingC(s *schedule.Schedule) { s.Calendar = "c" }

func testCalendars(c *chapter) {
	c.test("a calendar is kept with all that was declared of it", func(f *fixture) {
		want := schedule.Calendar{
			Name: "Ferien ", Description: "all of it", Weekdays: []time.Weekday{time.Sunday, time.Saturday},
			Dates: []string{"2030-12-25", "01-01"}, Ranges: []schedule.DateRange{{From: "2030-07-01", To: "2030-08-31"}},
		}
		stored := f.calendar(want)
		want.Version, want.UpdatedAt = stored.Version, f.now()
		f.equal("the calendar as stored", stored, want)
		f.equal("the calendars as another process lists them", f.elsewhere().calendars(), []schedule.Calendar{want})
	})
	c.test("one that exists cannot be created", func(f *fixture) {
		stored := f.calendar(schedule.Calendar{Name: "c", Description: "first"})
		_, err := f.store.PutCalendar(f.ctx(), schedule.Calendar{Name: "c"})
		f.wantErr(err, fairlead.ErrConflict)
		f.equal("the calendars", f.calendars(), []schedule.Calendar{stored})
	})
	c.test("with its Version it is replaced as a whole, and gets a larger Version", func(f *fixture) {
		first := f.calendar(schedule.Calendar{Name: "c", Description: "first", Dates: []string{"01-01"}})
		second := f.calendar(schedule.Calendar{Name: "c", Weekdays: []time.Weekday{time.Monday}, Version: first.Version})
		if second.Version <= first.Version {
			f.Fatalf("version %d follows %d", second.Version, first.Version)
		}
		f.equal("the calendars", f.calendars(), []schedule.Calendar{{Name: "c", Weekdays: []time.Weekday{time.Monday}, Version: second.Version, UpdatedAt: f.now()}})
	})
	c.test("a Version that is no longer current conflicts and changes nothing", func(f *fixture) {
		first := f.calendar(schedule.Calendar{Name: "c"})
		second := f.calendar(first)
		_, err := f.store.PutCalendar(f.ctx(), first)
		f.wantErr(err, fairlead.ErrConflict)
		f.equal("the calendars", f.calendars(), []schedule.Calendar{second})
	})
	c.test("one that was made again has a larger Version than the one before", func(f *fixture) {
		first := f.calendar(schedule.Calendar{Name: "c"})
		f.ok(f.store.DeleteCalendar(f.ctx(), "c"))
		if again := f.calendar(schedule.Calendar{Name: "c"}); again.Version <= first.Version {
			f.Fatalf("version %d follows %d", again.Version, first.Version)
		}
	})
	c.test("what does not exist cannot be replaced or deleted", func(f *fixture) {
		_, err := f.store.PutCalendar(f.ctx(), schedule.Calendar{Name: "c", Version: 3})
		f.wantErr(err, fairlead.ErrNotFound)
		f.wantErr(f.store.DeleteCalendar(f.ctx(), "c"), fairlead.ErrNotFound)
	})
	c.test("no calendar is named by schedules that have none", func(f *fixture) {
		f.plan("s")
		f.wantErr(f.store.DeleteCalendar(f.ctx(), ""), fairlead.ErrNotFound)
	})
	c.test("of many that create one name at once exactly one wins", func(f *fixture) {
		f.wantOneWinner(f.rivals(6, func(_ int, store Store) error {
			_, err := store.PutCalendar(f.ctx(), schedule.Calendar{Name: "c"})
			return err
		}))
	})
	c.test("it cannot be deleted while a living schedule names it", func(f *fixture) {
		f.calendar(schedule.Calendar{Name: "c"})
		s := f.plan("s", keepingC)
		f.wantErr(f.store.DeleteCalendar(f.ctx(), "c"), fairlead.ErrConflict)
		other := f.plan("other", keepingC, disabled)
		s.Calendar = ""
		f.put(s)
		f.wantErr(f.store.DeleteCalendar(f.ctx(), "c"), fairlead.ErrConflict)
		f.ok(f.store.DeleteSchedule(f.ctx(), other.ID))
		f.ok(f.store.DeleteCalendar(f.ctx(), "c"))
		f.equal("the calendars", f.calendars(), []schedule.Calendar(nil))
	})
	c.test("it can be deleted while schedules name others", func(f *fixture) {
		f.calendar(schedule.Calendar{Name: "c"})
		kept := f.calendar(schedule.Calendar{Name: "kept"})
		f.plan("s", keeping(kept))
		f.ok(f.store.DeleteCalendar(f.ctx(), "c"))
		f.equal("the calendars", f.calendars(), []schedule.Calendar{kept})
	})
	c.test("of a deletion and a schedule that comes to name it one wins", func(f *fixture) {
		for range f.rounds(10) {
			f.calendar(schedule.Calendar{Name: "c"})
			s := f.hourly("s", keepingC)
			f.ok(fairlead.NormalizeJobs([]*fairlead.Job{&s.Job}))
			g := f.other()
			var put, remove error
			together(
				func() { s, put = f.store.PutSchedule(f.ctx(), s, false) },
				func() { remove = g.store.DeleteCalendar(f.ctx(), "c") },
			)
			if put != nil {
				f.wantErr(put, fairlead.ErrInvalid)
				f.ok(remove)
				continue
			}
			f.wantErr(remove, fairlead.ErrConflict)
			f.ok(f.store.DeleteSchedule(f.ctx(), s.ID))
			f.ok(f.store.DeleteCalendar(f.ctx(), "c"))
		}
	})
	c.test("Calendars lists all by name", func(f *fixture) {
		for _, name := range []string{"c", "a", "B", "b"} {
			f.calendar(schedule.Calendar{Name: name})
		}
		var names []string
		for _, calendar := range f.calendars() {
			names = append(names, calendar.Name)
		}
		f.equal("the names", names, []string{"B", "a", "b", "c"})
	})
	c.test("decide is told the calendar as it is now, and nil if there is none", func(f *fixture) {
		first := f.calendar(schedule.Calendar{Name: "c", Dates: []string{"01-01"}})
		s, free := f.plan("s", keepingC), f.plan("free")
		f.equal("the calendar", f.view(s).Calendar, &first)
		second := f.calendar(schedule.Calendar{Name: "c", Dates: []string{"01-02"}, Version: first.Version})
		f.equal("the calendar after the change", f.view(s).Calendar, &second)
		seen := map[string]*schedule.Calendar{}
		f.tick(func(s schedule.Schedule, view schedule.View) schedule.Plan {
			seen[s.Name] = view.Calendar
			return leave(s, view)
		})
		f.equal("what Tick told", seen, map[string]*schedule.Calendar{"s": &second, free.Name: nil})
	})
}
