package schedule_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/schedule"
)

// zoneNames are the names of the tz database.
func zoneNames(t *testing.T) string {
	t.Helper()
	names, err := os.ReadFile(filepath.Join("..", "internal", "cron", "testdata", "zones.txt"))
	if err != nil {
		t.Fatal(err)
	}
	return string(names)
}

// oddDays are days whose midnight is missing or comes twice, or that are missing
// themselves.
var oddDays = []struct{ zone, day string }{
	{"Asia/Amman", "2021-10-29"},
	{"Asia/Amman", "2021-03-26"},
	{"Pacific/Apia", "2011-12-30"},
	{"Pacific/Kwajalein", "1993-08-21"},
	{"America/Sao_Paulo", "2018-02-18"},
	{"America/Sao_Paulo", "2018-11-04"},
	{"Asia/Beirut", "2025-03-30"},
	{"Asia/Beirut", "2025-10-26"},
	{"America/Havana", "2024-03-10"},
	{"America/Havana", "2024-11-03"},
	{"Africa/Cairo", "2025-04-25"},
	{"Africa/Cairo", "2025-10-31"},
	{"Asia/Gaza", "2023-04-29"},
	{"Asia/Gaza", "2023-10-28"},
	{"America/Asuncion", "2023-10-01"},
	{"America/Asuncion", "2024-03-24"},
	{"America/St_Johns", "2006-04-02"},
	{"America/St_Johns", "2006-10-29"},
	{"America/Nuuk", "2025-03-29"},
	{"America/Scoresbysund", "2024-03-31"},
}

// walked lists the half minutes of a span at which a schedule is due by asking each of
// them: what it would be due at without a calendar, and the day that clocks show.
func walked(s schedule.Schedule, calendar *schedule.Calendar, zone *time.Location, from, to time.Time) []time.Time {
	without, err := schedule.NewTiming(&s, nil)
	if err != nil {
		panic(err)
	}
	var due []time.Time
	raw := without.Next(from.Add(-time.Microsecond))
	for at := from; at.Before(to); at = at.Add(time.Minute / 2) { // Monrovia was 44 minutes and a half behind until 1972
		if !raw.Equal(at) {
			continue
		}
		raw = without.Next(at)
		day := at.In(zone)
		date := day.Format(time.DateOnly)
		switch {
		case slices.Contains(calendar.Weekdays, day.Weekday()),
			slices.Contains(calendar.Dates, date), slices.Contains(calendar.Dates, date[5:]),
			slices.ContainsFunc(calendar.Ranges, func(r schedule.DateRange) bool { return r.From <= date && date <= r.To }):
		default:
			due = append(due, at)
		}
	}
	return due
}

// compareWithWalk compares what a schedule with a calendar is due at, forwards and
// backwards, with what a walk over every half minute finds.
func compareWithWalk(t rapid.TB, s schedule.Schedule, calendar *schedule.Calendar, zone *time.Location, from, to time.Time) {
	t.Helper()
	timing, err := schedule.NewTiming(&s, calendar)
	if err != nil {
		t.Fatal(err)
	}
	want := walked(s, calendar, zone, from, to)
	var forwards, backwards []time.Time
	for due := timing.Next(from.Add(-time.Microsecond)); !due.IsZero() && due.Before(to); due = timing.Next(due) {
		forwards = append(forwards, due)
	}
	for due := timing.Prev(to); !due.IsZero() && !due.Before(from); due = timing.Prev(due) {
		backwards = append(backwards, due)
	}
	slices.Reverse(backwards)
	for name, got := range map[string][]time.Time{"forwards": forwards, "backwards": backwards} {
		if !slices.EqualFunc(got, want, time.Time.Equal) {
			t.Fatalf("%+v with %+v in %v, %s:\n%v, want\n%v", s, *calendar, zone, name, local(got, zone), local(want, zone))
		}
	}
}

func local(instants []time.Time, zone *time.Location) []string {
	texts := make([]string, len(instants))
	for i, at := range instants {
		texts[i] = at.In(zone).Format("01-02T15:04Z0700")
	}
	return texts
}

func TestCalendarsOfDaysWithOddMidnights(t *testing.T) {
	for _, odd := range oddDays {
		zone, err := time.LoadLocation(odd.zone)
		if err != nil {
			t.Fatal(err)
		}
		day, err := time.Parse(time.DateOnly, odd.day)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"*/30 * * * *", "0 0 * * *", "30 0,1,12,23 * * *"} {
			for shift := -2; shift <= 2; shift++ {
				calendar := &schedule.Calendar{Name: "c", Dates: []string{day.AddDate(0, 0, shift).Format(time.DateOnly)}}
				s := schedule.Schedule{Name: "s", Cron: text, Zone: odd.zone}
				compareWithWalk(t, s, calendar, zone, day.AddDate(0, 0, -3), day.AddDate(0, 0, 4))
			}
		}
	}
}

// TestCalendarsAroundEveryChangeOfClocks draws changes of clocks of all zones.
func TestCalendarsAroundEveryChangeOfClocks(t *testing.T) {
	names := strings.Fields(zoneNames(t))
	t.Attr(tier.LongAttr, "rapid draws five times as many cases")
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(names).Draw(t, "zone")
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Skip("it is not known here")
		}
		begin := time.Date(rapid.IntRange(1970, 2040).Draw(t, "year"), time.Month(rapid.IntRange(1, 12).Draw(t, "month")), 1, 0, 0, 0, 0, time.UTC)
		_, change := begin.In(zone).ZoneBounds()
		if change.IsZero() || rapid.IntRange(0, 9).Draw(t, "elsewhere") == 0 {
			change = begin.AddDate(0, 0, rapid.IntRange(0, 30).Draw(t, "day"))
		}
		day := change.In(zone).Truncate(24 * time.Hour)
		s := schedule.Schedule{Name: "s", Zone: name, CreatedAt: begin}
		switch rapid.IntRange(0, 3).Draw(t, "timing") {
		case 0:
			s.Daily = rapid.SampledFrom([]string{"00:00", "00:30, 23:30", "02:30", "01:00, 12:00"}).Draw(t, "daily")
		case 1:
			s.Every = time.Duration(rapid.IntRange(1, 200).Draw(t, "minutes")) * time.Minute
		default:
			s.Cron = rapid.SampledFrom([]string{"*/15 * * * *", "0 0 * * *", "59 23 * * *", "0 */6 * * *", "30 0-3 * * 1-5", "0 0 L * *"}).Draw(t, "cron")
		}
		calendar := &schedule.Calendar{Name: "c"}
		for _, shift := range rapid.SliceOfN(rapid.IntRange(-3, 3), 0, 3).Draw(t, "dates") {
			format := rapid.SampledFrom([]string{time.DateOnly, "01-02"}).Draw(t, "format")
			calendar.Dates = append(calendar.Dates, day.AddDate(0, 0, shift).Format(format))
		}
		for _, weekday := range rapid.SliceOfN(rapid.IntRange(0, 6), 0, 2).Draw(t, "weekdays") {
			calendar.Weekdays = append(calendar.Weekdays, time.Weekday(weekday))
		}
		for _, shift := range rapid.SliceOfN(rapid.IntRange(-3, 3), 0, 2).Draw(t, "ranges") {
			last := shift + rapid.IntRange(0, 2).Draw(t, "length")
			calendar.Ranges = append(calendar.Ranges, schedule.DateRange{
				From: day.AddDate(0, 0, shift).Format(time.DateOnly), To: day.AddDate(0, 0, last).Format(time.DateOnly),
			})
		}
		compareWithWalk(t, s, calendar, zone, change.Truncate(time.Minute).Add(-4*24*time.Hour), change.Truncate(time.Minute).Add(4*24*time.Hour))
	})
}
