package cron

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Daily is a set of times of day, created by ParseDaily. When the clocks change, it follows
// the same rules as expressions with fixed hours. The zero value is never due.
type Daily struct {
	seconds []int32 // seconds of the day, sorted, without duplicates
}

// ParseDaily parses a list of times of day, such as "03:00, 15:30" or "23:59:30".
func ParseDaily(text string) (Daily, error) {
	if len(text) > longestText {
		return Daily{}, tooLong(text)
	}
	var d Daily
	column := 1
	for part := range strings.SplitSeq(text, ",") {
		second, ok := timeOfDay(strings.TrimSpace(part))
		if !ok {
			if part = strings.TrimSpace(part); part == "" {
				return Daily{}, &SyntaxError{Column: column, Problem: "a time is missing; use HH:MM or HH:MM:SS, such as 03:00,15:30"}
			}
			return Daily{}, &SyntaxError{
				Part: part, Column: column,
				Problem: "is not a time of day; use HH:MM or HH:MM:SS from 00:00 to 23:59:59",
			}
		}
		d.seconds = append(d.seconds, int32(second))
		column += len(part) + 1
	}
	slices.Sort(d.seconds)
	d.seconds = slices.Compact(d.seconds)
	return d, nil
}

func timeOfDay(text string) (second int, ok bool) {
	parts := strings.Split(text, ":")
	if len(parts) < 2 || len(parts) > 3 {
		return 0, false
	}
	hms := [3]int{}
	for i, part := range parts {
		n, ok := digits(part)
		if !ok || len(part) > 2 || (i > 0 && len(part) < 2) || n > 59 || (i == 0 && n > 23) {
			return 0, false
		}
		hms[i] = n
	}
	return clock(hms[0], hms[1], hms[2]), true
}

// String returns the times in normal form: sorted and separated by commas.
func (d Daily) String() string { return strings.Join(d.times(), ",") }

// Describe returns an English description of the times.
func (d Daily) Describe() string {
	if len(d.seconds) == 0 {
		return "never"
	}
	return "at " + enumerate(d.times()) + " every day"
}

func (d Daily) times() []string {
	texts := make([]string, len(d.seconds))
	for i, second := range d.seconds {
		texts[i] = timeText(int(second))
	}
	return texts
}

// timeText formats a second of the day.
func timeText(second int) string {
	if second%60 == 0 {
		return fmt.Sprintf("%02d:%02d", second/3600, second/60%60)
	}
	return fmt.Sprintf("%02d:%02d:%02d", second/3600, second/60%60, second%60)
}

// Next returns the first instant after the given instant at which a time of day is due in
// zone. It returns the zero time if no such instant exists. A nil zone means UTC.
func (d Daily) Next(after time.Time, zone *time.Location) time.Time {
	now := max(after.Unix(), zeroTime)
	if now >= endOfTime || len(d.seconds) == 0 {
		return time.Time{}
	}
	zone = orUTC(zone)
	found, ok := nextOnce(now, zone, d.nextWall)
	return answer(found, ok, zone)
}

// Prev returns the last instant before the given instant at which a time of day is due in
// zone. It returns the zero time if no such instant exists. A nil zone means UTC.
func (d Daily) Prev(before time.Time, zone *time.Location) time.Time {
	until := min(lastSecondBefore(before), endOfTime-1)
	if until <= zeroTime || len(d.seconds) == 0 {
		return time.Time{}
	}
	zone = orUTC(zone)
	found, ok := prevOnce(until, zone, d.prevWall)
	return answer(found, ok, zone)
}

func (d Daily) nextWall(wall int64) (int64, bool) {
	day, second := split(wall)
	i, _ := slices.BinarySearch(d.seconds, int32(second))
	if i == len(d.seconds) {
		day, i = day+1, 0
	}
	return day*secondsPerDay + int64(d.seconds[i]), true
}

func (d Daily) prevWall(wall int64) (int64, bool) {
	day, second := split(wall)
	i, _ := slices.BinarySearch(d.seconds, int32(second)+1)
	if i == 0 {
		day, i = day-1, len(d.seconds)
	}
	return day*secondsPerDay + int64(d.seconds[i-1]), true
}
