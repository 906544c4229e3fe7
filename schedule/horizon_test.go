package schedule

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
)

// counted is a timing that counts how often it asks for an instant.
func counted(t *testing.T, s Schedule, calendar *Calendar) (timing *Timing, asked *int) {
	t.Helper()
	timing, err := NewTiming(&s, calendar)
	if err != nil {
		t.Fatal(err)
	}
	asked = new(int)
	next, prev := timing.next, timing.prev
	timing.next = func(after time.Time) time.Time { *asked++; return next(after) }
	timing.prev = func(before time.Time) time.Time { *asked++; return prev(before) }
	return timing, asked
}

var (
	november = time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)
	mondays  = &Calendar{Name: "c", Version: 7, Weekdays: []time.Weekday{time.Monday}}
	allDays  = &Calendar{Name: "c", Version: 7, Weekdays: []time.Weekday{0, 1, 2, 3, 4, 5, 6}}
)

func TestASearchForAnInstantThatIsNeverDueIsBounded(t *testing.T) {
	for name, given := range map[string]struct {
		schedule Schedule
		calendar *Calendar
	}{
		"Mondays without Mondays": {Schedule{Cron: "0 0 0 * * 1"}, mondays},
		"every second of no day":  {Schedule{Cron: "* * * * * *"}, allDays},
		"daily on no day":         {Schedule{Daily: "03:00", Zone: "Europe/Paris"}, allDays},
		"every second, as a rate": {Schedule{Every: time.Second}, allDays},
		"Christmas without it":    {Schedule{Cron: "0 0 0 25 12 *"}, &Calendar{Name: "c", Dates: []string{"12-25"}}},
		"a range up to year 9999": {Schedule{Daily: "00:00"}, &Calendar{Name: "c", Ranges: []DateRange{{"2000-01-01", "9999-12-31"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			given.schedule.CreatedAt = november.AddDate(-20, 0, 0)
			timing, asked := counted(t, given.schedule, given.calendar)
			for direction, search := range map[string]func(time.Time) time.Time{"next": timing.Next, "prev": timing.Prev} {
				*asked = 0
				if due := search(november); !due.IsZero() && direction == "next" {
					t.Errorf("%s is %v", direction, due)
				}
				if *asked > 8*366 {
					t.Errorf("%s asked for %d instants", direction, *asked)
				}
			}
		})
	}
}

// TestAScheduleThatIsDueBehindTheHorizonIsSearchedAgain: 29 February is a Monday in
// 2044, which is farther ahead than a search looks.
func TestAScheduleThatIsDueBehindTheHorizonIsSearchedAgain(t *testing.T) {
	butMondays := &Calendar{Name: "c", Version: 7, Weekdays: []time.Weekday{0, 2, 3, 4, 5, 6}}
	s := Schedule{Name: "s", Cron: "0 0 29 2 *", Calendar: "c", Job: fairlead.Job{Kind: "noop"}, CreatedAt: november}
	if err := Normalize(&s); err != nil {
		t.Fatal(err)
	}
	timing, err := NewTiming(&s, butMondays)
	if err != nil {
		t.Fatal(err)
	}
	s.Cursor = timing.Begin(november)
	want := time.Date(2044, 2, 29, 0, 0, 0, 0, time.UTC)
	for looks := 0; s.Due.IsZero(); looks++ {
		if s.FireAt.IsZero() || looks > 3 {
			t.Fatalf("look %d left %+v", looks, s.Cursor)
		}
		plan, err := s.Decide(View{Now: s.FireAt, Calendar: butMondays}, time.Minute)
		if err != nil || len(plan.Fires) > 0 {
			t.Fatalf("%+v: %v", plan, err)
		}
		s.Cursor = plan.Cursor
	}
	if !s.Due.Equal(want) {
		t.Errorf("it is due %v, want %v", s.Due, want)
	}
}

// calendarStore is a store that has one calendar.
type calendarStore struct {
	Store
	calendar Calendar
}

func (s calendarStore) Now(context.Context) (time.Time, error) { return november, nil }

func (s calendarStore) Calendars(context.Context) ([]Calendar, error) {
	return []Calendar{s.calendar}, nil
}

func TestAScheduleThatItsCalendarNeverLetsBeDueIsRefused(t *testing.T) {
	client := NewClient(calendarStore{calendar: *mondays})
	for name, given := range map[string]struct {
		schedule Schedule
		want     string
	}{
		"cron": {Schedule{Cron: "0 0 * * 1"}, `"c" excludes every instant of the schedule: it is never due within 8 years`},
		"at":   {Schedule{At: november.AddDate(0, 0, 7)}, `"c" excludes the day given in at; choose another day`},
	} {
		s := given.schedule
		s.Name, s.Calendar, s.Job = "s", "c", fairlead.Job{Kind: "noop"}
		_, err := client.Put(t.Context(), s)
		if !errors.Is(err, fairlead.ErrInvalid) || !strings.Contains(err.Error(), given.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
