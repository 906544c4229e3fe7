package schedule

import (
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
)

// outdated is a schedule whose cursor was computed with another calendar than mondays,
// or none.
func outdated(do func(s *Schedule)) Schedule {
	s := Schedule{ID: 1, Name: "s", Cron: "0 * * * *", Calendar: "c", UpdatedAt: november.Add(-48 * time.Hour), Job: fairlead.Job{Kind: "k"}}
	s.Cursor = Cursor{Due: november.Add(time.Hour), FireAt: november.Add(time.Hour), CalendarVersion: 3}
	do(&s)
	if err := Normalize(&s); err != nil {
		panic(err)
	}
	return s
}

// changed is a calendar that was changed some hours after november and excludes nothing.
func changed(hours int) *Calendar {
	return &Calendar{Name: "c", Version: 4, UpdatedAt: november.Add(time.Duration(hours) * time.Hour)}
}

func TestADecisionGoesByTheCalendarAsItIs(t *testing.T) {
	hours := func(n int) time.Time { return november.Add(time.Duration(n) * time.Hour) }
	midnight := hours(12)
	run := func(trigger Trigger, due int) Fire {
		return Fire{Job: 7, Due: hours(due), Trigger: trigger, State: fairlead.Succeeded, EndedAt: hours(due)}
	}
	last := func(trigger Trigger, due int) *Fire { f := run(trigger, due); return &f }
	delayed := func(due int) func(s *Schedule) {
		return func(s *Schedule) {
			s.Cron, s.Delay = "", 2*time.Hour
			s.Due, s.FireAt = hours(due), hours(due)
			if due == 0 {
				s.Due, s.FireAt = time.Time{}, time.Time{}
			}
		}
	}
	asIs := func(*Schedule) {}
	for name, c := range map[string]struct {
		do   func(s *Schedule)
		view View
		due  time.Time // after the decision
	}{
		"the same calendar":                  {func(s *Schedule) { s.Due = hours(5) }, View{Calendar: &Calendar{Version: 3}}, hours(5)},
		"a day that is excluded now":         {asIs, View{Calendar: mondays}, midnight},
		"a day that is free now":             {func(s *Schedule) { s.Due = midnight }, View{Calendar: changed(0)}, hours(1)},
		"it is not enabled":                  {func(s *Schedule) { s.Disabled = true }, View{Calendar: mondays}, hours(1)},
		"a calendar that is gone":            {func(s *Schedule) { s.Due, s.UpdatedAt = midnight, hours(-1) }, View{}, hours(0)},
		"a calendar of an older program":     {func(s *Schedule) { s.Due = midnight }, View{Calendar: &Calendar{Name: "c", Version: 4}}, hours(1)},
		"a run of the hour is active":        {func(s *Schedule) { s.Due = midnight }, View{Calendar: changed(-3), Active: []Fire{{Job: 7, Due: hours(0), Trigger: TriggerCron, State: fairlead.Running}}}, hours(1)},
		"a run of the hour has ended":        {func(s *Schedule) { s.Due = midnight }, View{Calendar: changed(-3), Last: last(TriggerCron, 0)}, hours(1)},
		"a run of the hour ended just now":   {func(s *Schedule) { s.Due = midnight }, View{Calendar: changed(-3), Ended: []Fire{run(TriggerCatchUp, 0)}}, hours(1)},
		"a delay while it runs":              {delayed(0), View{Calendar: changed(0), Active: []Fire{{Job: 7, Due: hours(-1), Trigger: TriggerCron, State: fairlead.Running}}}, time.Time{}},
		"a delay that was put off":           {delayed(12), View{Calendar: changed(-3), Last: last(TriggerCron, -1)}, hours(1)},
		"a delay that was put off, no run":   {delayed(12), View{Calendar: changed(1)}, hours(1)},
		"a delay that ends on an excluded":   {delayed(1), View{Calendar: mondays, Last: last(TriggerCron, -1)}, midnight},
		"a delay on no day":                  {delayed(1), View{Calendar: allDays, Last: last(TriggerCron, -1)}, time.Time{}},
		"a delay that is still to end":       {delayed(5), View{Calendar: changed(0)}, hours(5)},
		"a delay that is to end after a run": {delayed(5), View{Calendar: changed(0), Last: last(TriggerManual, -20)}, hours(5)},
		"a delay after a skip":               {delayed(5), View{Calendar: changed(0), Last: last(TriggerCron, -20), Skipped: true}, hours(5)},
		"a delay after a skip, to midnight":  {delayed(12), View{Calendar: changed(0), Last: last(TriggerCron, -20), Skipped: true}, hours(12)},
		"a delay after a skip, excluded now": {delayed(5), View{Calendar: mondays, Last: last(TriggerCron, -20), Skipped: true}, midnight},
		"a run by hand does not count":       {func(s *Schedule) { s.Due = midnight }, View{Calendar: changed(0), Last: last(TriggerManual, 5)}, hours(1)},
		"a run by a backfill does not count": {func(s *Schedule) { s.Due = midnight }, View{Calendar: changed(0), Last: last(TriggerBackfill, 5)}, hours(1)},
	} {
		s := outdated(c.do)
		c.view.Now = november
		plan, err := s.Decide(c.view, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		due := plan.Cursor.Due
		if len(plan.Fires) > 0 { // it had come
			due = plan.Fires[0].Due
		}
		if !due.Equal(c.due) {
			t.Errorf("%s: it is due at %v, want %v (%+v)", name, due, c.due, plan)
		}
		if want := versionOf(c.view.Calendar); !s.Disabled && plan.Cursor.CalendarVersion != want {
			t.Errorf("%s: it counts as computed with version %d, want %d", name, plan.Cursor.CalendarVersion, want)
		}
	}
}

func TestAScheduleThatCannotBeReadStaysAsItIs(t *testing.T) {
	for name, do := range map[string]func(s *Schedule){
		"what is stored": func(s *Schedule) { s.Broken = "cannot be read" },
		"its zone":       func(s *Schedule) { s.Zone = "Mars" },
	} {
		s := outdated(func(*Schedule) {})
		do(&s)
		plan, err := s.Decide(View{Now: november.Add(2 * time.Hour), Calendar: mondays}, time.Minute)
		if err == nil || plan.Cursor != s.Cursor || len(plan.Fires) > 0 {
			t.Errorf("%s: it plans %+v: %v", name, plan, err)
		}
		if cursor := s.listed(View{Now: november, Calendar: mondays}); cursor != s.Cursor {
			t.Errorf("%s: it is shown at %+v", name, cursor)
		}
	}
}

func TestWhatIsShownOfAScheduleAgreesWithItsCalendar(t *testing.T) {
	hours := func(n int) time.Time { return november.Add(time.Duration(n) * time.Hour) }
	for name, c := range map[string]struct {
		do       func(s *Schedule)
		calendar *Calendar
		due      time.Time
	}{
		"a day that is excluded now":              {func(*Schedule) {}, mondays, hours(12)},
		"a day that is free now":                  {func(s *Schedule) { s.Due = hours(12) }, changed(0), hours(1)},
		"it is not enabled":                       {func(s *Schedule) { s.Disabled = true }, mondays, hours(1)},
		"a delay, of whose runs nothing is known": {func(s *Schedule) { s.Cron, s.Delay, s.Due = "", time.Hour, hours(12) }, changed(0), hours(12)},
	} {
		s := outdated(c.do)
		if cursor := s.listed(View{Now: november, Calendar: c.calendar}); !cursor.Due.Equal(c.due) {
			t.Errorf("%s: it is shown at %v, want %v", name, cursor.Due, c.due)
		}
	}
}

// A schedule with a delay of which nothing runs has to be due again, or it never would.
func TestADelayIsCountedThoughNothingRan(t *testing.T) {
	s := outdated(func(s *Schedule) {
		s.Cron, s.Calendar, s.Delay, s.Cursor = "", "", time.Hour, Cursor{Due: november, FireAt: november}
		s.AfterFailure = FailureSkip
	})
	failed := &Fire{Job: 7, Number: 1, State: fairlead.Failed, EndedAt: november}
	plan, err := s.Decide(View{Now: november, Last: failed}, time.Minute)
	if err != nil || len(plan.Fires) != 1 || plan.Fires[0].Skip != SkipFailure || !plan.Cursor.Due.Equal(november.Add(time.Hour)) {
		t.Errorf("it plans %+v: %v", plan, err)
	}
	queued := Fire{Job: 8, Queued: true, State: fairlead.Scheduled}
	s.MaxConcurrency = 1
	plan, err = s.Decide(View{Now: november, Active: []Fire{{Job: 7, State: fairlead.Running}, queued}}, time.Minute)
	if err != nil || len(plan.Fires) != 0 || !plan.Cursor.Due.IsZero() {
		t.Errorf("while one runs it plans %+v: %v", plan, err)
	}
	s.Cursor, s.Calendar = Cursor{FireAt: november, CalendarVersion: 7}, "c"
	plan, err = s.Decide(View{Now: november, Calendar: allDays}, time.Minute)
	if err != nil || len(plan.Fires) != 0 || !plan.Cursor.waits() || !plan.Cursor.FireAt.After(november) {
		t.Errorf("when it is searched again it plans %+v: %v", plan, err)
	}
	plan, err = s.Decide(View{Now: november, Calendar: &Calendar{Version: 7}}, time.Minute)
	if err != nil || len(plan.Fires) != 1 || plan.Fires[0].Skip != "" {
		t.Errorf("when a day is free it plans %+v: %v", plan, err)
	}
}
