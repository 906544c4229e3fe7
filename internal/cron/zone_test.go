package cron_test

import (
	_ "embed"
	"fmt"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // for machines that have no zones

	"github.com/fairlead-io/fairlead/internal/cron"
)

// zoneNames are the names of the tz database.
//
//go:embed testdata/zones.txt
var zoneNames string

var (
	zonesFrom = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	zonesTo   = time.Date(2034, 1, 1, 0, 0, 0, 0, time.UTC)
)

// changesOf finds the instants at which the clocks of a zone are changed.
func changesOf(zone *time.Location, from, to time.Time) []time.Time {
	offset := func(second int64) int {
		_, offset := time.Unix(second, 0).In(zone).Zone()
		return offset
	}
	const step = 12 * 60 * 60
	var found []time.Time
	for low := from.Unix(); low < to.Unix(); low += step {
		before := offset(low)
		if offset(low+step) == before {
			continue
		}
		first, last := low, low+step // changed somewhere after first and until last
		for last-first > 1 {
			if middle := (first + last) / 2; offset(middle) == before {
				first = middle
			} else {
				last = middle
			}
		}
		found = append(found, time.Unix(last, 0))
	}
	return found
}

// changingZones returns zones with clock changes in the years of the test, one of each
// kind, with the changes.
func changingZones(t *testing.T) map[*time.Location][]time.Time {
	t.Helper()
	zones, seen := map[*time.Location][]time.Time{}, map[string]bool{}
	for name := range strings.FieldsSeq(zoneNames) {
		zone := load(t, name)
		changes := changesOf(zone, zonesFrom, zonesTo)
		_, offset := zonesFrom.In(zone).Zone()
		kind := fmt.Sprint(offset, changes)
		if len(changes) > 0 && !seen[kind] {
			seen[kind] = true
			zones[zone] = changes
		}
	}
	return zones
}

func TestDailySchedulesFireOnceOnEveryLocalDayOfAllZones(t *testing.T) {
	zones := changingZones(t)
	if len(zones) < 20 {
		t.Fatalf("only %d kinds of zones were found", len(zones))
	}
	for zone := range zones {
		t.Run(zone.String(), func(t *testing.T) {
			t.Parallel()
			days := localDays(zone)
			for _, text := range []string{"30 2 * * *", "15 0 * * *"} {
				fired := map[string]int{}
				for _, at := range parse(t, text).Between(zonesFrom, zonesTo, zone, 5000) {
					fired[at.Format(time.DateOnly)]++
				}
				for _, day := range days[1 : len(days)-1] { // the first and the last may be cut
					if fired[day] != 1 {
						t.Errorf("%q fires %d times on %s", text, fired[day], day)
					}
				}
			}
		})
	}
}

// localDays lists the days that exist in a zone.
func localDays(zone *time.Location) []string {
	var days []string
	for at := zonesFrom; at.Before(zonesTo); at = at.Add(time.Hour) {
		day := at.In(zone).Format(time.DateOnly)
		if len(days) == 0 || days[len(days)-1] < day {
			days = append(days, day)
		}
	}
	return days
}

func TestHourlySchedulesFollowRealTimeInAllZones(t *testing.T) {
	e := parse(t, "0 * * * *")
	for zone, changes := range changingZones(t) {
		t.Run(zone.String(), func(t *testing.T) {
			t.Parallel()
			for _, change := range changes {
				from, to := change.Add(-30*time.Hour).Truncate(time.Minute), change.Add(30*time.Hour)
				var want []time.Time
				for at := from; at.Before(to); at = at.Add(time.Minute) {
					if at.In(zone).Minute() == 0 {
						want = append(want, at)
					}
				}
				sameInstants(t, e.Between(from, to, zone, 100), want)
			}
		})
	}
}

func sameInstants(t *testing.T, got, want []time.Time) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			t.Fatalf("ends too early, %v is missing", want[i])
		case i >= len(want):
			t.Fatalf("%v is too much", got[i])
		case !got[i].Equal(want[i]):
			t.Fatalf("number %d is %v, want %v", i, got[i], want[i])
		}
	}
}

func TestClocksThatAreChanged(t *testing.T) {
	for _, test := range []struct {
		why, text, zone, from, to string
		want                      string // local times with their offsets
	}{
		{
			"a gap of an hour", "30 2 * * *", "Europe/Paris", "2025-03-29", "2025-04-01",
			"03-29T02:30+01 03-30T03:00+02 03-31T02:30+02",
		},
		{
			"two times in one gap", "0,30 2 * * *", "Europe/Paris", "2025-03-30", "2025-03-31",
			"03-30T03:00+02",
		},
		{
			"one time in the gap, one at its end", "0 2,3 * * *", "Europe/Paris", "2025-03-30", "2025-03-31",
			"03-30T03:00+02",
		},
		{
			"an hour that is repeated", "30 2 * * *", "Europe/Paris", "2025-10-26", "2025-10-28",
			"10-26T02:30+02 10-27T02:30+01",
		},
		{
			"several times in a repeated hour", "0,59 2 * * *", "Europe/Paris", "2025-10-26", "2025-10-27",
			"10-26T02:00+02 10-26T02:59+02",
		},
		{
			"real time in a repeated hour", "30 * * * *", "Europe/Paris", "2025-10-26T01", "2025-10-26T04",
			"10-26T01:30+02 10-26T02:30+02 10-26T02:30+01 10-26T03:30+01",
		},
		{
			"real time in a gap", "30 * * * *", "Europe/Paris", "2025-03-30T01", "2025-03-30T04",
			"03-30T01:30+01 03-30T03:30+02",
		},
		{
			"steps of hours in a gap", "0 */2 * * *", "Europe/Paris", "2025-03-30", "2025-03-30T07",
			"03-30T00:00+01 03-30T04:00+02 03-30T06:00+02",
		},
		{
			"a list of hours makes up for the gap", "0 0,2,4 * * *", "Europe/Paris", "2025-03-30", "2025-03-30T07",
			"03-30T00:00+01 03-30T03:00+02 03-30T04:00+02",
		},
		{
			"a gap of half an hour", "15 2 * * *", "Australia/Lord_Howe", "2024-10-05", "2024-10-08",
			"10-05T02:15+1030 10-06T02:30+11 10-07T02:15+11",
		},
		{
			"half an hour that is repeated", "45 1 * * *", "Australia/Lord_Howe", "2025-04-06", "2025-04-07",
			"04-06T01:45+11",
		},
		{
			"half an hour in real time", "*/15 * * * *", "Australia/Lord_Howe", "2025-04-06T01:15", "2025-04-06T02:15",
			"04-06T01:15+11 04-06T01:30+11 04-06T01:45+11 04-06T01:30+1030 04-06T01:45+1030 04-06T02:00+1030",
		},
		{
			"a gap at midnight in Beirut", "0 0 * * *", "Asia/Beirut", "2025-03-29", "2025-04-01",
			"03-29T00:00+02 03-30T01:00+03 03-31T00:00+03",
		},
		{
			"midnight comes back in Beirut", "30 23 * * *", "Asia/Beirut", "2025-10-25", "2025-10-27",
			"10-25T23:30+03 10-26T23:30+02",
		},
		{
			"a gap at midnight in Cairo", "30 0 * * *", "Africa/Cairo", "2025-04-24", "2025-04-27",
			"04-24T00:30+02 04-25T01:00+03 04-26T00:30+03",
		},
		{
			"a gap at midnight in Sao Paulo", "0 0 * * *", "America/Sao_Paulo", "2018-11-03", "2018-11-06",
			"11-03T00:00-03 11-04T01:00-02 11-05T00:00-02",
		},
		{
			"a gap of two hours", "0 2 * * *", "Antarctica/Troll", "2025-03-29", "2025-04-01",
			"03-29T02:00+00 03-30T03:00+02 03-31T02:00+02",
		},
		{
			"two hours that are repeated", "30 1,2 * * *", "Antarctica/Troll", "2025-10-26", "2025-10-27",
			"10-26T01:30+02 10-26T02:30+02",
		},
		{
			"Ramadan begins", "30 2 * * *", "Africa/Casablanca", "2025-02-22", "2025-02-25",
			"02-22T02:30+01 02-23T02:30+01 02-24T02:30+00",
		},
		{
			"Ramadan ends", "30 2 * * *", "Africa/Casablanca", "2025-04-05", "2025-04-08",
			"04-05T02:30+00 04-06T03:00+01 04-07T02:30+01",
		},
		{
			"a day is missing in Samoa", "0 9 * * *", "Pacific/Apia", "2011-12-29", "2012-01-01",
			"12-29T09:00-10 12-31T09:00+14",
		},
		{
			"a date is missing in Samoa", "0 9 30 * *", "Pacific/Apia", "2011-11-30", "2012-02-01",
			"11-30T09:00-10 01-30T09:00+14",
		},
		{
			"real time over a missing day", "0 */12 * * *", "Pacific/Apia", "2011-12-29", "2012-01-01",
			"12-29T00:00-10 12-29T12:00-10 12-31T00:00+14 12-31T12:00+14",
		},
		{
			"a day is missing in Kwajalein", "0 9 * * *", "Pacific/Kwajalein", "1993-08-20", "1993-08-24",
			"08-20T09:00-12 08-22T09:00+12 08-23T09:00+12",
		},
		{
			"a gap before midnight", "30 23 * * *", "America/Nuuk", "2025-03-28", "2025-03-31",
			"03-28T23:30-02 03-30T00:00-01 03-30T23:30-01",
		},
		{
			"clocks go back after midnight", "0 0 * * *", "America/St_Johns", "2006-10-28", "2006-10-31",
			"10-28T00:00-0230 10-29T00:00-0230 10-30T00:00-0330",
		},
	} {
		t.Run(test.why, func(t *testing.T) {
			zone := load(t, test.zone)
			got := localTimes(parse(t, test.text).Between(local(t, test.from, zone), local(t, test.to, zone), zone, 100))
			if got != test.want {
				t.Errorf("%q in %s fires at\n%s, want\n%s", test.text, test.zone, got, test.want)
			}
		})
	}
}

// local reads a local time, or as much of it as is given.
func local(t *testing.T, text string, zone *time.Location) time.Time {
	t.Helper()
	at, err := time.ParseInLocation("2006-01-02T15:04", text+"2006-01-01T00:00"[len(text):], zone)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func localTimes(instants []time.Time) string {
	texts := make([]string, len(instants))
	for i, at := range instants {
		texts[i] = at.Format("01-02T15:04-07")
		if _, offset := at.Zone(); offset%3600 != 0 {
			texts[i] = at.Format("01-02T15:04-0700")
		}
	}
	return strings.Join(texts, " ")
}

func TestTheLastDayOfALeapYear(t *testing.T) {
	// The standard library ends every year of a rule after 365 days.
	zone := ruled(t, "AEST-10AEDT,M10.1.0,M4.1.0/3")
	from, to := time.Date(2024, 12, 30, 0, 0, 0, 0, zone), time.Date(2025, 1, 3, 0, 0, 0, 0, zone)
	for text, want := range map[string]string{
		"0 9 * * *":    "12-30T09:00+11 12-31T09:00+11 01-01T09:00+11 01-02T09:00+11",
		"0 */12 * * *": "12-30T00:00+11 12-30T12:00+11 12-31T00:00+11 12-31T12:00+11 01-01T00:00+11 01-01T12:00+11 01-02T00:00+11 01-02T12:00+11",
	} {
		e := parse(t, text)
		if got := localTimes(e.Between(from, to, zone, 100)); got != want {
			t.Errorf("%q fires at %s, want %s", text, got, want)
		}
		for at := to; at.After(from); at = at.Add(-time.Hour) {
			prev := e.Prev(at, zone)
			if next := e.Next(prev, zone); next.Before(at) {
				t.Errorf("%q: before %v is %v, but %v is nearer", text, at, prev, next)
			}
		}
	}
}

// ruled returns a zone that has only a rule and no table of changes.
func ruled(t *testing.T, rule string) *time.Location {
	t.Helper()
	name, _, _ := strings.Cut(rule, "-")
	header := func(types, chars byte) string {
		return "TZif2" + strings.Repeat("\x00", 15) + strings.Repeat("\x00", 16) +
			"\x00\x00\x00" + string(rune(types)) + "\x00\x00\x00" + string(rune(chars))
	}
	one := "\x00\x00\x00\x00\x00\x00" + name + "\x00" // a kind of time: offset, summer, name
	block := header(1, byte(len(name)+1)) + one
	zone, err := time.LoadLocationFromTZData(rule, []byte(block+block+"\n"+rule+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func TestANilZoneIsUTC(t *testing.T) {
	e, after := parse(t, "0 9 * * *"), instant(t, "2025-01-01T10:00:00Z")
	if got, want := e.Next(after, nil), instant(t, "2025-01-02T09:00:00Z"); got != want {
		t.Errorf("%v, want %v", got, want)
	}
	if got, want := e.Prev(after, nil), instant(t, "2025-01-01T09:00:00Z"); got != want {
		t.Errorf("%v, want %v", got, want)
	}
	var d cron.Daily
	if !d.Next(after, nil).IsZero() || !d.Prev(after, nil).IsZero() {
		t.Error("no times are due")
	}
}
