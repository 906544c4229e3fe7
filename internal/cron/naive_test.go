package cron_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// lot draws a number from 0 to n-1.
type lot func(n int) int

// randomExpr makes up an expression of six fields. Special is whether it may use
// what only few parsers know: 7, L, W and #.
func randomExpr(draw lot, special bool) string {
	fields := []string{
		randomField(draw, 0, 59), randomField(draw, 0, 59), randomField(draw, 0, 23),
		randomField(draw, 1, 31), randomField(draw, 1, 12), randomField(draw, 0, 6),
	}
	// Most have a plain second and month, as those that people write.
	if draw(2) == 0 {
		fields[0] = "0"
	}
	if draw(3) > 0 {
		fields[4] = "*"
	}
	if draw(2) == 0 {
		fields[3+2*draw(2)] = "*"
	}
	if special {
		switch draw(4) {
		case 0:
			fields[3] = pick(draw, "L", "LW", fmt.Sprintf("%dW", 1+draw(31)), fmt.Sprintf("L-%d", draw(31)), fmt.Sprintf("L-%dW", draw(28)), "1,15,L", fmt.Sprintf("%dW,LW", 1+draw(31)))
		case 1:
			fields[5] = pick(draw, fmt.Sprintf("%dL", draw(8)), fmt.Sprintf("%d#%d", draw(8), 1+draw(5)), "7", "5-7", "1#1,3#3,5L", "MON-FRI", "sat,sun")
		case 2:
			fields[3] = "?"
		}
	}
	return strings.Join(fields, " ")
}

func pick(draw lot, of ...string) string { return of[draw(len(of))] }

func randomField(draw lot, low, high int) string {
	width := high - low + 1
	parts := make([]string, 1+draw(3))
	if draw(2) == 0 {
		return "*"
	}
	for i := range parts {
		a := low + draw(width)
		b := a + draw(high-a+1)
		n := 1 + draw(width-1)
		parts[i] = pick(draw,
			strconv.Itoa(a), strconv.Itoa(a), fmt.Sprintf("%d-%d", a, b), fmt.Sprintf("%d-%d/%d", a, b, n),
			fmt.Sprintf("%d/%d", a, n), fmt.Sprintf("*/%d", max(n, 2)))
	}
	return strings.Join(parts, ",")
}

// naive understands expressions by asking of every value whether the text means
// it. It is slow and has nothing in common with the package.
type naive struct {
	fields []string
	always bool
	second [60]bool
	minute [60]bool
	hour   [24]bool
	day    map[int64]bool // by days since 1970, as far as they were asked for
}

func newNaive(text string) *naive {
	n := &naive{fields: strings.Fields(strings.ToUpper(text)), day: map[int64]bool{}}
	for i := range 60 {
		n.second[i] = means(n.fields[0], i, 0, 59)
		n.minute[i] = means(n.fields[1], i, 0, 59)
	}
	for i := range 24 {
		n.hour[i] = means(n.fields[2], i, 0, 23)
	}
	n.always = n.hour == [24]bool{
		true, true, true, true, true, true, true, true, true, true, true, true,
		true, true, true, true, true, true, true, true, true, true, true, true,
	} || (strings.HasPrefix(n.fields[2], "*/") && !strings.Contains(n.fields[2], ","))
	return n
}

// matches tells it for a local time in seconds as if it were UTC.
func (n *naive) matches(wall int64) bool {
	return n.second[wall%60] && n.minute[wall/60%60] && n.hour[wall/3600%24] && n.matchesDay(wall/86400)
}

func (n *naive) matchesDay(day int64) bool {
	known, ok := n.day[day]
	if !ok {
		known = n.judgeDay(time.Unix(day*86400, 0).UTC())
		n.day[day] = known
	}
	return known
}

func (n *naive) judgeDay(day time.Time) bool {
	if !means(n.fields[4], int(day.Month()), 1, 12) {
		return false
	}
	anyDate := n.fields[3] == "*" || n.fields[3] == "?"
	anyWeekday := n.fields[5] == "*" || n.fields[5] == "?"
	switch byDate, byWeekday := n.judgeDate(day), n.judgeWeekday(day); {
	case anyDate && anyWeekday:
		return true
	case anyDate:
		return byWeekday
	case anyWeekday:
		return byDate
	default:
		return byDate || byWeekday
	}
}

func (n *naive) judgeDate(day time.Time) bool {
	last := time.Date(day.Year(), day.Month()+1, 0, 0, 0, 0, 0, time.UTC)
	for part := range strings.SplitSeq(n.fields[3], ",") {
		var number int
		switch {
		case part == "L":
			if day.Equal(last) {
				return true
			}
		case part == "LW":
			if day.Equal(nearestWorkday(last)) {
				return true
			}
		case strings.HasPrefix(part, "L-") && strings.HasSuffix(part, "W"):
			number, _ = strconv.Atoi(part[2 : len(part)-1])
			target := last.AddDate(0, 0, -number)
			if target.Month() == day.Month() && day.Equal(nearestWorkday(target)) {
				return true
			}
		case strings.HasPrefix(part, "L-"):
			number, _ = strconv.Atoi(part[2:])
			if day.Equal(last.AddDate(0, 0, -number)) {
				return true
			}
		case strings.HasSuffix(part, "W"):
			number, _ = strconv.Atoi(part[:len(part)-1])
			target := time.Date(day.Year(), day.Month(), number, 0, 0, 0, 0, time.UTC)
			if target.Month() == day.Month() && day.Equal(nearestWorkday(target)) {
				return true
			}
		case means(part, day.Day(), 1, 31):
			return true
		}
	}
	return false
}

// nearestWorkday tries the days of the month by their distance.
func nearestWorkday(target time.Time) time.Time {
	for _, distance := range []int{0, -1, 1, -2, 2} {
		day := target.AddDate(0, 0, distance)
		if day.Month() == target.Month() && day.Weekday() != time.Saturday && day.Weekday() != time.Sunday {
			return day
		}
	}
	panic("a month without workdays")
}

func (n *naive) judgeWeekday(day time.Time) bool {
	names := []string{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"}
	for part := range strings.SplitSeq(n.fields[5], ",") {
		for i, name := range names {
			part = strings.ReplaceAll(part, name, strconv.Itoa(i))
		}
		weekday := int(day.Weekday())
		is := func(text string) bool { return text == strconv.Itoa(weekday) || (text == "7" && weekday == 0) }
		first, nth, isNth := strings.Cut(part, "#")
		switch {
		case isNth:
			if is(first) && strconv.Itoa((day.Day()+6)/7) == nth {
				return true
			}
		case strings.HasSuffix(part, "L"):
			if is(strings.TrimSuffix(part, "L")) && day.AddDate(0, 0, 7).Month() != day.Month() {
				return true
			}
		case means(part, weekday, 0, 6), weekday == 0 && part != "*" && means(part, 7, 0, 6):
			return true
		}
	}
	return false
}

// means reports whether a field of values, ranges and steps means a value.
func means(field string, value, low, high int) bool {
	return slices.ContainsFunc(strings.Split(field, ","), func(part string) bool {
		body, stepText, stepped := strings.Cut(part, "/")
		step := 1
		if stepped {
			step, _ = strconv.Atoi(stepText)
		}
		from, to := low, high
		first, last, ranged := strings.Cut(body, "-")
		switch {
		case body == "*" || body == "?":
		case ranged:
			from, _ = strconv.Atoi(first)
			to, _ = strconv.Atoi(last)
		default:
			from, _ = strconv.Atoi(body)
			if !stepped {
				to = from
			}
		}
		return value >= from && value <= to && (value-from)%step == 0
	})
}
