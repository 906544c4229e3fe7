package cron_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead-io/fairlead/internal/cron"
	"github.com/fairlead-io/fairlead/internal/tier"
)

// TestEveryMinuteAroundChangesOfAllZones compares the results with a search of every minute
// of six days around a random clock change of any zone.
func TestEveryMinuteAroundChangesOfAllZones(t *testing.T) {
	names := strings.Fields(zoneNames)
	t.Attr(tier.LongAttr, "rapid draws five times as many cases")
	rapid.Check(t, func(t *rapid.T) {
		zone, err := time.LoadLocation(rapid.SampledFrom(names).Draw(t, "zone"))
		if err != nil {
			t.Skip("it is not known here")
		}
		begin := time.Date(rapid.IntRange(1973, 2040).Draw(t, "year"), time.Month(rapid.IntRange(1, 12).Draw(t, "month")), 1, 0, 0, 0, 0, time.UTC)
		_, change := begin.In(zone).ZoneBounds()
		if change.IsZero() {
			change = begin
		}
		from := change.UTC().Truncate(time.Minute).AddDate(0, 0, -3)
		walls := make([]int64, 6*24*60) // in minutes
		exists := map[int64]bool{}
		for i := range walls {
			at := from.Unix() + int64(i)*60
			_, offset := time.Unix(at, 0).In(zone).Zone()
			if offset%60 != 0 {
				t.Skip("its clocks are not those of other zones by the minute")
			}
			walls[i] = (at + int64(offset)) / 60
			exists[walls[i]/(24*60)] = true
		}
		draw := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "lot") }
		text := "0 " + strings.Join(strings.Fields(randomExpr(draw, true))[1:], " ")
		e, err := cron.Parse(text)
		if err != nil {
			t.Skip("it is silent for too long")
		}
		want := everyMinute(newNaive(text), walls, exists)
		to := from.Add(time.Duration(len(walls)) * time.Minute)
		got := e.Between(from.Add(time.Minute), to, zone, len(walls))
		if !slices.EqualFunc(got, want, func(at time.Time, i int64) bool { return at.Unix() == from.Unix()+i*60 }) {
			t.Fatalf("%q in %v fires at\n%v, want minutes\n%v after %v", text, zone, got, want, from)
		}
		var backwards []time.Time
		for at := e.Prev(to, zone); at.After(from); at = e.Prev(at, zone) {
			backwards = append(backwards, at)
		}
		slices.Reverse(backwards)
		if !slices.EqualFunc(backwards, got, time.Time.Equal) {
			t.Fatalf("%q in %v fires at\n%v, and backwards at\n%v", text, zone, got, backwards)
		}
	})
}

// everyMinute lists the minutes after the first at which a schedule is due. It knows
// days by the clocks alone: one that they never show has no times.
func everyMinute(n *naive, walls []int64, exists map[int64]bool) []int64 {
	var due []int64
	shown := walls[0]
	for i, wall := range walls[1:] {
		fires := n.always && n.matches(wall*60)
		for ; shown < wall; shown++ {
			if missed := shown + 1; !n.always && n.matches(missed*60) && exists[missed/(24*60)] {
				fires = true
			}
		}
		if fires {
			due = append(due, int64(i)+1)
		}
	}
	return due
}

// TestDaysAreCutWhereClocksAreChanged walks through years of all zones: in each piece
// clocks show one day, and the pieces fit together both ways.
func TestDaysAreCutWhereClocksAreChanged(t *testing.T) {
	names := strings.Fields(zoneNames)
	t.Attr(tier.LongAttr, "rapid draws five times as many cases")
	rapid.Check(t, func(t *rapid.T) {
		zone, err := time.LoadLocation(rapid.SampledFrom(names).Draw(t, "zone"))
		if err != nil {
			t.Skip("it is not known here")
		}
		at := time.Date(rapid.IntRange(1900, 2100).Draw(t, "year"), 1, 1, 0, 0, 0, 0, time.UTC).In(zone)
		for end := at.AddDate(1, 0, 0); at.Before(end); {
			next := cron.DayEnds(at)
			last := next.Add(-time.Nanosecond)
			if !next.After(at) || next.Sub(at) > 24*time.Hour || last.Format(time.DateOnly) != at.Format(time.DateOnly) {
				t.Fatalf("the day of %v ends at %v", at, next)
			}
			if began := cron.DayBegan(last); began.After(last) || began.Format(time.DateOnly) != last.Format(time.DateOnly) || last.Sub(began) > 24*time.Hour {
				t.Fatalf("the day of %v began at %v", last, began)
			}
			at = next
		}
	})
}
