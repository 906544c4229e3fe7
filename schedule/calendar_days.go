package schedule

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead/internal/cron"
)

// days are the days of a calendar. A day is a number such as 20261225.
type days struct {
	weekdays [7]bool
	dates    map[int]struct{} // a day, or 1225 for one of every year
	ranges   []dayRange       // in order, none touches another
}

type dayRange struct {
	from, to int // included
}

// daysOf reads a calendar; nil excludes nothing.
func daysOf(calendar *Calendar) *days {
	if calendar == nil {
		return nil
	}
	d := &days{dates: make(map[int]struct{}, len(calendar.Dates))}
	for _, weekday := range calendar.Weekdays {
		d.weekdays[weekday%7] = true
	}
	for _, date := range calendar.Dates {
		d.dates[dayNumber(date)] = struct{}{}
	}
	d.ranges = mergeRanges(calendar.Ranges)
	return d
}

// timing is when a schedule is due by the calendar of a view.
func (v *View) timing(s *Schedule) (*Timing, error) {
	if v.days == nil {
		return NewTiming(s, v.Calendar)
	}
	return newTiming(s, v.days, versionOf(v.Calendar))
}

// dayNumber is a date that NormalizeCalendar let through as a number.
func dayNumber(date string) int {
	number, err := strconv.Atoi(strings.ReplaceAll(date, "-", ""))
	if err != nil {
		return 0 // no day has it
	}
	return number
}

// mergeRanges puts ranges in order, and makes one of those that overlap.
func mergeRanges(given []DateRange) []dayRange {
	ranges := make([]dayRange, len(given))
	for i, r := range given {
		ranges[i] = dayRange{dayNumber(r.From), dayNumber(r.To)}
	}
	slices.SortFunc(ranges, func(a, b dayRange) int { return a.from - b.from })
	merged := ranges[:0]
	for _, r := range ranges {
		if last := len(merged) - 1; last >= 0 && r.from <= merged[last].to {
			merged[last].to = max(merged[last].to, r.to)
			continue
		}
		merged = append(merged, r)
	}
	return merged
}

// exclude reports whether a moment lies on one of the days, as the clocks of its
// zone show it.
func (d *days) exclude(t time.Time) bool {
	if d == nil {
		return false
	}
	if d.weekdays[t.Weekday()] {
		return true
	}
	year, month, day := t.Date()
	everyYear := int(month)*100 + day
	number := year*10_000 + everyYear
	if _, named := d.dates[number]; named {
		return true
	}
	if _, named := d.dates[everyYear]; named {
		return true
	}
	i, begins := slices.BinarySearchFunc(d.ranges, number, func(r dayRange, day int) int { return r.from - day })
	return begins || i > 0 && number <= d.ranges[i-1].to
}

// leave is the first moment from one on that is not excluded. It gives up behind a
// limit, and then returns an excluded one.
func (d *days) leave(t, limit time.Time) time.Time {
	for d.exclude(t) && !t.After(limit) {
		t = cron.DayEnds(t)
	}
	return t
}

// enter is the first moment of the excluded time that a moment lies in. It gives up
// before a limit.
func (d *days) enter(t, limit time.Time) time.Time {
	for {
		began := cron.DayBegan(t)
		before := began.Add(-time.Microsecond)
		if !d.exclude(before) || before.Before(limit) {
			return began
		}
		t = before
	}
}
