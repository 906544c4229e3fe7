package storetest

import (
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/schedule"
)

// midnightly stores a schedule that is due at each midnight and uses the calendar c. It
// uses the client, like users do.
func (f *fixture) midnightly(changes ...func(*schedule.Schedule)) schedule.Schedule {
	f.Helper()
	s := schedule.Schedule{Name: "s", Daily: "00:00", Calendar: "c", Job: *plain()}
	for _, change := range changes {
		change(&s)
	}
	stored, err := schedule.NewClient(f.store).Put(f.ctx(), s)
	f.ok(err)
	return stored
}

// decided ticks until nothing is left to do, like a node.
func (f *fixture) decided() {
	f.Helper()
	for range 10 {
		f.tick(func(s schedule.Schedule, view schedule.View) schedule.Plan {
			plan, err := s.Decide(view, time.Minute)
			f.ok(err)
			return plan
		})
	}
}

// wantDue checks the next due time of a schedule, both in the list and in the preview.
func (f *fixture) wantDue(s schedule.Schedule, want time.Time) {
	f.Helper()
	client := schedule.NewClient(f.store)
	listed, err := client.ByID(f.ctx(), s.ID)
	f.ok(err)
	f.equal("when it is due", listed.Due.UTC(), want)
	preview, err := client.Preview(f.ctx(), listed, 1)
	f.ok(err)
	f.equal("when its preview says", preview[0].UTC(), want)
}

// instants returns the instants with runs of the schedule, oldest first.
func (f *fixture) instants(s schedule.Schedule) (due []time.Time) {
	f.Helper()
	for _, fire := range f.fires(s.ID) {
		due = append([]time.Time{fire.Due.UTC()}, due...)
	}
	return due
}

// midnight returns the midnight n days after the next one.
func (f *fixture) midnight(n int) time.Time {
	return f.now().UTC().Truncate(24*time.Hour).AddDate(0, 0, n+1)
}

func date(day time.Time) string { return day.Format(time.DateOnly) }

// await advances the clock to a time.
func (f *fixture) await(moment time.Time) {
	f.Helper()
	f.Advance(moment.Sub(f.now()))
	f.decided()
}

func testObeyedCalendars(c *chapter) {
	c.test("a day that is excluded after the schedule was stored has no run", func(f *fixture) {
		first, second := f.midnight(0), f.midnight(1)
		calendar := f.calendar(schedule.Calendar{Name: "c"})
		s := f.midnightly()
		f.wantDue(s, first)
		calendar.Dates = []string{date(first)}
		f.calendar(calendar)
		f.wantDue(s, second)
		f.await(first)
		f.equal("the runs", f.instants(s), []time.Time(nil))
		f.await(second)
		f.equal("the runs", f.instants(s), []time.Time{second})
	})
	c.test("a day that is excluded while no node has come by has no run either", func(f *fixture) {
		first, second := f.midnight(0), f.midnight(1)
		calendar := f.calendar(schedule.Calendar{Name: "c"})
		s := f.midnightly()
		f.decided()
		f.Advance(first.Add(-time.Second).Sub(f.now()))
		calendar.Dates = []string{date(first)}
		f.calendar(calendar)
		f.await(first)
		f.equal("the runs", f.instants(s), []time.Time(nil))
		f.wantDue(s, second)
	})
	c.test("a day that is freed has its run", func(f *fixture) {
		first, second := f.midnight(0), f.midnight(1)
		calendar := f.calendar(schedule.Calendar{Name: "c", Dates: []string{date(first)}})
		s := f.midnightly()
		f.wantDue(s, second)
		calendar.Dates = nil
		f.calendar(calendar)
		f.wantDue(s, first)
		f.await(first)
		f.equal("the runs", f.instants(s), []time.Time{first})
		f.await(second)
		f.equal("the runs", f.instants(s), []time.Time{first, second})
	})
	c.test("an instant that had passed when its day was freed has no run", func(f *fixture) {
		first, second := f.midnight(0), f.midnight(1)
		calendar := f.calendar(schedule.Calendar{Name: "c", Dates: []string{date(first)}})
		s := f.midnightly(func(s *schedule.Schedule) { s.CatchUp = schedule.CatchUpFull })
		f.await(first.Add(time.Second))
		calendar.Dates = nil
		f.calendar(calendar)
		f.wantDue(s, second)
		f.decided()
		f.equal("the runs", f.instants(s), []time.Time(nil))
	})
	c.test("a freed instant that passed while no node was there is missed as any other", func(f *fixture) {
		first := f.midnight(0)
		calendar := f.calendar(schedule.Calendar{Name: "c", Dates: []string{date(first)}})
		s := f.midnightly(func(s *schedule.Schedule) { s.CatchUp = schedule.CatchUpFull })
		calendar.Dates = nil
		f.calendar(calendar)
		f.await(first.Add(time.Hour))
		f.equal("the runs", f.instants(s), []time.Time{first})
		f.equal("why", f.fires(s.ID)[0].Trigger, schedule.TriggerCatchUp)
	})
	c.test("another calendar of a schedule counts at once, and so does none", func(f *fixture) {
		first, second := f.midnight(0), f.midnight(1)
		f.calendar(schedule.Calendar{Name: "c", Dates: []string{date(first)}})
		f.calendar(schedule.Calendar{Name: "open"})
		s := f.midnightly()
		f.wantDue(s, second)
		client := schedule.NewClient(f.store)
		s.Calendar = "open"
		s, err := client.Put(f.ctx(), s)
		f.ok(err)
		f.wantDue(s, first)
		s.Calendar = "c"
		s, err = client.Put(f.ctx(), s)
		f.ok(err)
		f.wantDue(s, second)
		s.Calendar = ""
		s, err = client.Put(f.ctx(), s)
		f.ok(err)
		f.wantDue(s, first)
	})
	c.test("a calendar that excludes everything silences a schedule until it is changed", func(f *fixture) {
		first, second := f.midnight(0), f.midnight(1)
		calendar := f.calendar(schedule.Calendar{Name: "c"})
		s := f.midnightly()
		calendar.Weekdays = []time.Weekday{0, 1, 2, 3, 4, 5, 6}
		calendar = f.calendar(calendar)
		f.equal("when it is due", f.listed(s).Due, time.Time{})
		f.await(first.Add(time.Second))
		f.equal("the runs", f.instants(s), []time.Time(nil))
		f.equal("when it is due", f.listed(s).Due, time.Time{})
		calendar.Weekdays = nil
		f.calendar(calendar)
		f.wantDue(s, second)
		f.await(second)
		f.equal("the runs", f.instants(s), []time.Time{second})
	})
	c.test("a schedule of one instant obeys, and comes back if its day is freed in time", func(f *fixture) {
		first := f.midnight(0)
		calendar := f.calendar(schedule.Calendar{Name: "c"})
		s := f.midnightly(func(s *schedule.Schedule) { s.Daily, s.At = "", first })
		for range 2 {
			calendar.Dates = []string{date(first)}
			calendar = f.calendar(calendar)
			f.equal("when it is due", f.listed(s).Due, time.Time{})
			f.decided()
			calendar.Dates = nil
			calendar = f.calendar(calendar)
			f.equal("when it is due", f.listed(s).Due.UTC(), first)
			f.decided()
		}
		f.await(first)
		f.equal("the runs", f.instants(s), []time.Time{first})
		f.calendar(calendar)
		f.await(first.Add(time.Hour))
		f.equal("the runs after another change", f.instants(s), []time.Time{first})
	})
	c.test("a delay that ends on an excluded day ends with that day", func(f *fixture) {
		first, second := f.midnight(0), f.midnight(1)
		f.calendar(schedule.Calendar{Name: "c", Dates: []string{date(first)}})
		s := f.midnightly(func(s *schedule.Schedule) { s.Daily, s.Delay = "", time.Hour })
		f.Advance(first.Add(-30 * time.Minute).Sub(f.now()))
		f.decided()
		fires := f.fires(s.ID)
		f.equal("the runs", len(fires), 1)
		f.ended(fires[0], fairlead.Succeed)
		f.decided()
		f.equal("when it is due", f.listed(s).Due.UTC(), second)
		f.await(second)
		f.equal("the runs", len(f.fires(s.ID)), 2)
	})
	c.test("a change of the calendar shortens no delay", func(f *fixture) {
		const delay = 24 * time.Hour
		calendar := f.calendar(schedule.Calendar{Name: "c"})
		s := f.midnightly(func(s *schedule.Schedule) {
			s.Daily, s.Delay, s.AfterFailure = "", delay, schedule.FailureSkip
		})
		wantRuns := func(want int) {
			f.Helper()
			f.decided()
			f.equal("the runs", len(f.fires(s.ID)), want)
		}
		wantRuns(1)
		f.ended(f.fires(s.ID)[0], fairlead.Fail)
		wantRuns(1)
		f.Advance(delay)
		wantRuns(2) // it is skipped, so that the delay begins anew
		f.Advance(time.Hour)
		calendar.Dates = []string{"2001-01-01"}
		f.calendar(calendar)
		wantRuns(2)
		f.Advance(delay - time.Hour)
		wantRuns(3)
	})
}

// listed returns a schedule from the client's list.
func (f *fixture) listed(s schedule.Schedule) schedule.Schedule {
	f.Helper()
	listed, err := schedule.NewClient(f.store).ByID(f.ctx(), s.ID)
	f.ok(err)
	return listed
}
