package schedule

import (
	"testing"
	"time"
)

// noTuesdays excludes the day after november.
var noTuesdays = &Calendar{Name: "c", Version: 8, Weekdays: []time.Weekday{time.Tuesday}}

func timingOf(t *testing.T, s Schedule, calendar *Calendar) *Timing {
	t.Helper()
	timing, err := NewTiming(&s, calendar)
	if err != nil {
		t.Fatal(err)
	}
	return timing
}

func TestWhereAScheduleBegins(t *testing.T) {
	tuesday := november.AddDate(0, 0, 1)
	midnight := time.Date(2026, 11, 17, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		schedule Schedule
		calendar *Calendar
		due      time.Time // zero: none
		searched bool      // again, when the horizon is reached
	}{
		"at an instant":                           {Schedule{At: tuesday}, nil, tuesday, false},
		"at an instant before its end":            {Schedule{At: tuesday, EndsAt: tuesday.Add(1)}, nil, tuesday, false},
		"at an instant that is its end":           {Schedule{At: tuesday, EndsAt: tuesday}, nil, time.Time{}, false},
		"at an instant of an excluded day":        {Schedule{At: tuesday}, noTuesdays, time.Time{}, false},
		"after a delay":                           {Schedule{Delay: time.Minute}, nil, november, false},
		"after a delay, not before its start":     {Schedule{Delay: time.Minute, StartsAt: tuesday}, nil, tuesday, false},
		"after a delay, on an excluded day":       {Schedule{Delay: time.Minute}, mondays, midnight, false},
		"after a delay, before its end":           {Schedule{Delay: time.Minute, EndsAt: tuesday}, mondays, midnight, false},
		"after a delay, from its end on":          {Schedule{Delay: time.Minute, EndsAt: midnight}, mondays, time.Time{}, false},
		"after a delay, on no day":                {Schedule{Delay: time.Minute}, allDays, time.Time{}, true},
		"after a delay, on no day before its end": {Schedule{Delay: time.Minute, EndsAt: tuesday}, allDays, time.Time{}, false},
		"daily":                    {Schedule{Daily: "00:00"}, nil, midnight, false},
		"daily, from its start on": {Schedule{Daily: "00:00", StartsAt: midnight}, nil, midnight, false},
		"daily, from its end on":   {Schedule{Daily: "00:00", EndsAt: midnight}, nil, time.Time{}, false},
		"daily, on no day":         {Schedule{Daily: "00:00"}, allDays, time.Time{}, true},
	} {
		cursor := timingOf(t, c.schedule, c.calendar).Begin(november)
		if !cursor.Due.Equal(c.due) || cursor.waits() != c.searched || cursor.CalendarVersion != versionOf(c.calendar) {
			t.Errorf("%s: it stands at %+v, want %v", name, cursor, c.due)
		}
		if !c.due.IsZero() && !cursor.FireAt.Equal(c.due) {
			t.Errorf("%s: it is acted upon at %v, want %v", name, cursor.FireAt, c.due)
		}
	}
}

// What another calendar changes is what is still to be decided: nothing runs twice, and
// nothing is left out that was due.
func TestAnotherCalendarCountsFromNowOn(t *testing.T) {
	hour := november.Add(time.Hour)
	tuesday := november.AddDate(0, 0, 1)
	midnight := time.Date(2026, 11, 17, 0, 0, 0, 0, time.UTC)
	at := func(due time.Time) Cursor { return Cursor{Due: due, FireAt: due} }
	for name, c := range map[string]struct {
		schedule Schedule
		before   Cursor
		calendar *Calendar
		due      time.Time // zero: none
	}{
		"an instant that has run":                   {Schedule{At: november}, Cursor{}, nil, time.Time{}},
		"an instant that has run, on an open day":   {Schedule{At: november.Add(-time.Hour)}, Cursor{}, noTuesdays, time.Time{}},
		"an instant to come that was excluded":      {Schedule{At: tuesday}, Cursor{}, nil, tuesday},
		"an instant to come that is excluded now":   {Schedule{At: tuesday}, at(tuesday), noTuesdays, time.Time{}},
		"an instant that has come and did not run":  {Schedule{At: november.Add(-time.Hour)}, at(november.Add(-time.Hour)), nil, november.Add(-time.Hour)},
		"a delay while it runs":                     {Schedule{Delay: time.Hour}, Cursor{}, noTuesdays, time.Time{}},
		"a delay that ended on an excluded day":     {Schedule{Delay: time.Hour}, at(november.Add(-time.Minute)), mondays, midnight},
		"a delay that ended and did not run":        {Schedule{Delay: time.Hour}, at(november.Add(-time.Minute)), nil, november.Add(-time.Minute)},
		"a delay that was put off":                  {Schedule{Delay: time.Hour}, at(midnight), nil, november},
		"a delay that was put off before its start": {Schedule{Delay: time.Hour, StartsAt: hour}, at(midnight), nil, hour},
		"an hour that was excluded":                 {Schedule{Cron: "0 * * * *"}, at(midnight), nil, hour},
		"an hour that is excluded now":              {Schedule{Cron: "0 * * * *"}, at(hour), mondays, midnight},
		"an hour that has come and did not run":     {Schedule{Cron: "0 * * * *"}, at(november), nil, november},
		"an hour that has come and is excluded now": {Schedule{Cron: "0 * * * *"}, at(november), mondays, midnight},
	} {
		if cursor := timingOf(t, c.schedule, c.calendar).recount(c.before, november); !cursor.Due.Equal(c.due) {
			t.Errorf("%s: it is due at %v, want %v", name, cursor.Due, c.due)
		}
	}
}
