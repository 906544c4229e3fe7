package cron

import "time"

// Local times are counted in seconds as if they were UTC: a wall-clock time has the Unix
// time of the same clock reading in UTC.

// split splits a local time into the day and the second of the day.
func split(wall int64) (day int64, second int) {
	day = wall / secondsPerDay
	second = int(wall % secondsPerDay)
	if second < 0 {
		return day - 1, second + secondsPerDay
	}
	return day, second
}

func date(day int64) (year, month, dayOfMonth int) {
	y, m, d := time.Unix(day*secondsPerDay, 0).UTC().Date()
	return y, int(m), d
}

// nextWall returns the first matching local time from wall on, up to the end of a year.
func (e *Expr) nextWall(wall int64, untilYear int) (int64, bool) {
	day, second := split(wall)
	year, number, today := date(day)
	if year > untilYear {
		return 0, false
	}
	if e.months.has(number) {
		m := monthOf(year, number)
		matching := e.days.of(m)
		if matching.has(today) {
			if at, ok := e.nextSecond(second); ok {
				return day*secondsPerDay + int64(at), true
			}
		}
		if rest := matching.from(today + 1); rest != 0 {
			return (m.first+int64(rest.first()-1))*secondsPerDay + int64(e.firstSecond()), true
		}
	}
	rest := e.months.from(number + 1)
	for {
		for ; rest != 0; rest &= rest - 1 {
			m := monthOf(year, rest.first())
			if matching := e.days.of(m); matching != 0 {
				return (m.first+int64(matching.first()-1))*secondsPerDay + int64(e.firstSecond()), true
			}
		}
		if year++; year > untilYear {
			return 0, false
		}
		rest = e.months
	}
}

// prevWall returns the last matching local time up to wall, down to the start of a year.
func (e *Expr) prevWall(wall int64, sinceYear int) (int64, bool) {
	day, second := split(wall)
	year, number, today := date(day)
	if year < sinceYear {
		return 0, false
	}
	if e.months.has(number) {
		m := monthOf(year, number)
		matching := e.days.of(m)
		if matching.has(today) {
			if at, ok := e.prevSecond(second); ok {
				return day*secondsPerDay + int64(at), true
			}
		}
		if rest := matching.upTo(today - 1); rest != 0 {
			return (m.first+int64(rest.last()-1))*secondsPerDay + int64(e.lastSecond()), true
		}
	}
	rest := e.months.upTo(number - 1)
	for {
		for ; rest != 0; rest = rest.upTo(rest.last() - 1) {
			m := monthOf(year, rest.last())
			if matching := e.days.of(m); matching != 0 {
				return (m.first+int64(matching.last()-1))*secondsPerDay + int64(e.lastSecond()), true
			}
		}
		if year--; year < sinceYear {
			return 0, false
		}
		rest = e.months
	}
}

// nextSecond returns the first matching second of a day from the given one on.
func (e *Expr) nextSecond(second int) (int, bool) {
	hour, minute := second/3600, second/60%60
	if e.hours.has(hour) {
		if rest := e.seconds.from(second % 60); e.minutes.has(minute) && rest != 0 {
			return clock(hour, minute, rest.first()), true
		}
		if rest := e.minutes.from(minute + 1); rest != 0 {
			return clock(hour, rest.first(), e.seconds.first()), true
		}
	}
	rest := e.hours.from(hour + 1)
	if rest == 0 {
		return 0, false
	}
	return clock(rest.first(), e.minutes.first(), e.seconds.first()), true
}

// prevSecond returns the last matching second of a day up to the given one.
func (e *Expr) prevSecond(second int) (int, bool) {
	hour, minute := second/3600, second/60%60
	if e.hours.has(hour) {
		if rest := e.seconds.upTo(second % 60); e.minutes.has(minute) && rest != 0 {
			return clock(hour, minute, rest.last()), true
		}
		if rest := e.minutes.upTo(minute - 1); rest != 0 {
			return clock(hour, rest.last(), e.seconds.last()), true
		}
	}
	rest := e.hours.upTo(hour - 1)
	if rest == 0 {
		return 0, false
	}
	return clock(rest.last(), e.minutes.last(), e.seconds.last()), true
}

func (e *Expr) firstSecond() int {
	return clock(e.hours.first(), e.minutes.first(), e.seconds.first())
}

func (e *Expr) lastSecond() int {
	return clock(e.hours.last(), e.minutes.last(), e.seconds.last())
}

func clock(hour, minute, second int) int { return hour*3600 + minute*60 + second }
