package cron

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Describe returns an English description of the expression's due times.
func (e Expr) Describe() string {
	switch {
	case e.every > 0:
		return describeInterval(e.every)
	case e.hours == 0:
		return "never"
	}
	times := e.describeTimes()
	if e.days.anyDate && e.days.anyWeekday {
		switch {
		case e.months != span(1, 12):
			return times + " every day in " + describeMonths(e.months)
		case e.timesOfDay():
			return times + " every day"
		default:
			return times
		}
	}
	when, byMonth := e.describeDays()
	switch {
	case !byMonth:
		return times + " on " + when
	case e.timesOfDay():
		return "on " + when + " " + times
	default:
		return "on " + when + ", " + times
	}
}

func describeInterval(interval time.Duration) string {
	var parts []string
	for _, unit := range []struct {
		length time.Duration
		name   string
	}{{time.Hour, "hour"}, {time.Minute, "minute"}, {time.Second, "second"}, {time.Millisecond, "millisecond"}} {
		if n := interval / unit.length; n > 0 {
			parts = append(parts, count(int(n), unit.name))
			interval %= unit.length
		}
	}
	if len(parts) == 1 {
		return "every " + strings.TrimPrefix(parts[0], "1 ")
	}
	return "every " + enumerate(parts)
}

// mostTimes is the maximum number of times of day that are listed individually.
const mostTimes = 6

// timesOfDay reports whether there are few enough times to list.
func (e *Expr) timesOfDay() bool {
	return !e.always && e.seconds.size()*e.minutes.size()*e.hours.size() <= mostTimes && !e.hourly()
}

// hourly reports whether the expression is due once per hour in a range of hours.
func (e *Expr) hourly() bool {
	return !e.always && e.seconds.size() == 1 && e.minutes.size() == 1 && e.hours.size() > 2 && e.hours.stride() == 1
}

func (e *Expr) describeTimes() string {
	switch {
	case e.hourly():
		minute, second := e.minutes.first(), e.seconds.first()
		return fmt.Sprintf("every hour from %s to %s",
			timeText(clock(e.hours.first(), minute, second)), timeText(clock(e.hours.last(), minute, second)))
	case e.timesOfDay():
		var times []string
		for _, hour := range e.hours.members() {
			for _, minute := range e.minutes.members() {
				for _, second := range e.seconds.members() {
					times = append(times, timeText(clock(hour, minute, second)))
				}
			}
		}
		return "at " + enumerate(times)
	}
	minutes, wide := e.describeMinutes()
	switch {
	case e.always:
		return e.describeHours(minutes, wide)
	case e.hours.stride() == 1:
		return fmt.Sprintf("%s from %s to %s", minutes,
			timeText(clock(e.hours.first(), 0, 0)), timeText(clock(e.hours.last(), 59, 0)))
	default:
		return minutes + " " + plural("in the hour", e.hours)
	}
}

// describeHours adds the hours of an expression that follows real time.
func (e *Expr) describeHours(minutes string, wide bool) string {
	n := e.hours.stride()
	fullHour := e.minutes == 1 && e.seconds == 1
	from := ""
	if 24%n != 0 {
		from = " from midnight"
	}
	switch {
	case fullHour:
		return "every " + strings.TrimPrefix(count(n, "hour"), "1 ") + from
	case n == 1 && wide:
		return minutes
	case n == 1:
		return minutes + " of every hour"
	default:
		return minutes + " of every " + ordinal(n) + " hour" + from
	}
}

// describeMinutes describes the times within an hour. wide reports whether they span the
// whole hour.
func (e *Expr) describeMinutes() (phrase string, wide bool) {
	if e.seconds == 1 {
		return spread(e.minutes, "minute", "hour")
	}
	seconds, wide := spread(e.seconds, "second", "minute")
	switch {
	case e.minutes == span(0, 59) && wide:
		return seconds, true
	case e.minutes == span(0, 59):
		return seconds + " of every minute", true
	}
	minutes, wide := spread(e.minutes, "minute", "hour")
	if wide {
		return seconds + " of a minute, " + minutes, true
	}
	return seconds + " of " + strings.TrimPrefix(minutes, "at "), false
}

// spread describes a set of minutes or seconds. wide reports whether the set covers the
// whole range.
func spread(values set, name, of string) (phrase string, wide bool) {
	n := values.stride()
	switch {
	case n > 0 && values == steps(0, 59, n) && 60%n == 0:
		return "every " + strings.TrimPrefix(count(n, name), "1 "), true
	case n > 1 && values == steps(0, 59, n):
		return fmt.Sprintf("every %s from the start of every %s", count(n, name), of), true
	default:
		return plural("at "+name, values), false
	}
}

// plural returns a word and its values.
func plural(word string, values set) string {
	if values.size() > 1 {
		word += "s"
	}
	if n := values.stride(); n > 1 && values.size() > mostTimes {
		return fmt.Sprintf("%s %d, %d and so on to %d", word, values.first(), values.first()+n, values.last())
	}
	return word + " " + enumerateRuns(values, strconv.Itoa)
}

// count formats a number of things.
func count(n int, name string) string {
	if n == 1 {
		return "1 " + name
	}
	return strconv.Itoa(n) + " " + name + "s"
}

// enumerateRuns lists values, with ranges for three or more consecutive ones.
func enumerateRuns(values set, name func(int) string) string {
	var items []string
	for _, run := range values.runs() {
		if run.size() > 2 {
			items = append(items, name(run.first())+" to "+name(run.last()))
			continue
		}
		for _, n := range run.members() {
			items = append(items, name(n))
		}
	}
	return enumerate(items)
}

func enumerate(items []string) string {
	if len(items) == 1 {
		return items[0]
	}
	last := len(items) - 1
	return strings.Join(items[:last], ", ") + " and " + items[last]
}
