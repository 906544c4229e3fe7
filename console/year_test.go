package console

import (
	"reflect"
	"testing"
	"time"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/schedule"
)

func TestAYearMarksExactlyTheDaysOnWhichAScheduleIsNotDue(t *testing.T) {
	calendar := &fairleadv1.Calendar{
		Name: "feast", Weekdays: []string{"sunday", "wednesday"}, Dates: []string{"12-25", "02-29", "2028-05-01"},
		Ranges: []*fairleadv1.DateRange{{From: "2027-12-24", To: "2028-01-06"}, {From: "2028-08-01", To: "2028-08-20"}},
	}
	daily := schedule.Schedule{Name: "daily", Daily: "12:00", Zone: "UTC", Calendar: "feast"}
	stored := calendarOf(calendar)
	timing, err := schedule.NewTiming(&daily, &stored)
	if err != nil {
		t.Fatal(err)
	}
	for _, year := range []int{2027, 2028} {
		due := map[string]bool{}
		begin := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
		for at := timing.Next(begin); at.Year() == year; at = timing.Next(at) {
			due[at.Format(time.DateOnly)] = true
		}
		days := 0
		for _, month := range yearPicture(year, begin, exclusionsOf(calendar)) {
			for _, day := range month.Days {
				days++
				if date := day.Date.Format(time.DateOnly); (len(day.Excluded) == 0) != due[date] {
					t.Errorf("%s: excluded by %v, and due is %v", date, day.Excluded, due[date])
				}
			}
		}
		if want := begin.AddDate(1, 0, -1).YearDay(); days != want {
			t.Errorf("%d has %d days, want %d", year, days, want)
		}
	}
}

func TestAnExcludedDayHasAllItsReasons(t *testing.T) {
	days := exclusionsOf(&fairleadv1.Calendar{
		Weekdays: []string{"friday"}, Dates: []string{"12-25", "2026-12-25"}, Ranges: []*fairleadv1.DateRange{{From: "2026-12-24", To: "2026-12-26"}},
	})
	got := days.of(time.Date(2026, 12, 25, 0, 0, 0, 0, time.UTC))
	want := []exclusion{{Weekday: "Friday"}, {Yearly: "12-25"}, {Date: "2026-12-25"}, {From: "2026-12-24", To: "2026-12-26"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the reasons are %+v, want %+v", got, want)
	}
}

func TestDaysOfAMonthStandUnderTheirWeekdays(t *testing.T) {
	months := yearPicture(2026, time.Date(2026, 2, 3, 9, 0, 0, 0, time.UTC), exclusionsOf(&fairleadv1.Calendar{}))
	first := months[1].Days[0] // 1 February 2026 is a Sunday
	if first.X != 6*dayWidth+1 || first.Y != monthHead+1 {
		t.Errorf("a Sunday that begins a month stands at %d, %d", first.X, first.Y)
	}
	if monday := months[1].Days[1]; monday.X != 1 || monday.Y != monthHead+dayHeight+1 {
		t.Errorf("the Monday after it stands at %d, %d", monday.X, monday.Y)
	}
	for _, month := range months {
		for _, day := range month.Days {
			if day.Y+day.Height > month.Height || day.X+day.Width > month.Width {
				t.Errorf("%v stands outside of its picture", day.Date)
			}
			if day.Today != (day.Date.Format(time.DateOnly) == "2026-02-03") {
				t.Errorf("%v is today: %v", day.Date, day.Today)
			}
		}
	}
}

func TestComingDaysLeaveOutWeekends(t *testing.T) {
	days := exclusionsOf(&fairleadv1.Calendar{Weekdays: []string{"sunday"}, Dates: []string{"12-25", "2026-12-31"}})
	got := days.coming(time.Date(2026, 12, 20, 0, 0, 0, 0, time.UTC), 3)
	if len(got) != 2 || got[0].Format(time.DateOnly) != "2026-12-25" || got[1].Format(time.DateOnly) != "2026-12-31" {
		t.Errorf("the coming days are %v", got)
	}
}
