package cron

import (
	"fmt"
	"slices"
	"strings"
)

// spec defines the valid contents of a field.
type spec struct {
	name      string
	low, high int
	whole     int      // last value of *; Sunday counts only once
	names     []string // names of the values from low on; their first three letters suffice
	allowed   string
}

var (
	secondSpec  = spec{name: "second", high: 59, whole: 59, allowed: "0 to 59"}
	minuteSpec  = spec{name: "minute", high: 59, whole: 59, allowed: "0 to 59"}
	hourSpec    = spec{name: "hour", high: 23, whole: 23, allowed: "0 to 23"}
	dateSpec    = spec{name: "day of month", low: 1, high: 31, whole: 31, allowed: "1 to 31, L, L-3, 15W, LW or L-3W"}
	monthSpec   = spec{name: "month", low: 1, high: 12, whole: 12, names: monthNames, allowed: "1 to 12 or JAN to DEC"}
	weekdaySpec = spec{name: "day of week", high: 7, whole: 6, names: weekdayNames, allowed: "0 to 7 (0 and 7 are Sunday), SUN to SAT, 5L or 5#3"}

	monthNames   = strings.Fields("JANUARY FEBRUARY MARCH APRIL MAY JUNE JULY AUGUST SEPTEMBER OCTOBER NOVEMBER DECEMBER")
	weekdayNames = strings.Fields("SUNDAY MONDAY TUESDAY WEDNESDAY THURSDAY FRIDAY SATURDAY")
)

// shortName is the length of abbreviated names.
const shortName = 3

// field is a field of an expression during parsing.
type field struct {
	*spec
	text     string // in upper case
	given    string // as written
	column   int    // in the whole text, starting at 1
	position int    // among the fields, starting at 1
	of       int    // number of fields
}

// part is an entry in a field's list.
type part struct {
	*field
	text   string
	column int
}

func (p part) refuse(format string, args ...any) error {
	return &SyntaxError{
		Field: p.name, Position: p.position, Fields: p.of,
		Part: p.given[p.column-p.field.column:][:len(p.text)], Column: p.column,
		Problem: fmt.Sprintf(format, args...),
	}
}

// parts returns the entries of the field.
func (f *field) parts() []part {
	var list []part
	column := f.column
	for text := range strings.SplitSeq(f.text, ",") {
		list = append(list, part{f, text, column})
		column += len(text) + 1
	}
	return list
}

// plain parses a field without days that depend on the month. whole reports whether the
// field is *.
func (f *field) plain() (values set, whole bool, err error) {
	list := f.parts()
	for _, p := range list {
		more, all, err := p.values(len(list) == 1)
		if err != nil {
			return 0, false, err
		}
		values, whole = values|more, whole || all
	}
	return values, whole, nil
}

// values parses a value, a range or steps.
func (p part) values(alone bool) (values set, whole bool, err error) {
	body, stepText, stepped := strings.Cut(p.text, "/")
	step := 1
	if stepped {
		n, ok := digits(stepText)
		if widest := p.whole - p.low; !ok || n < 1 || n > widest {
			return 0, false, p.refuse("needs a step from 1 to %d after the slash", widest)
		}
		step = n
	}
	low, high := p.low, p.whole
	switch from, to, ranged := strings.Cut(body, "-"); {
	case body == "":
		return 0, false, p.refuse("is missing a value; use %s", p.allowed)
	case body == "?" && p.spec != &dateSpec && p.spec != &weekdaySpec:
		return 0, false, p.refuse("is allowed only in the day of month and the day of week; use *")
	case body == "*" || body == "?":
		if step == 1 && !alone {
			return 0, false, p.refuse("already means every value; it must be alone")
		}
		return steps(low, high, step), step == 1, nil
	case ranged:
		if low, high, err = p.limits(from, to); err != nil {
			return 0, false, err
		}
	default:
		if low, err = p.value(body); err != nil {
			return 0, false, err
		}
		if p.spec == &weekdaySpec {
			low %= daysPerWeek
		}
		if !stepped {
			high = low
		}
	}
	values = steps(low, high, step)
	if p.spec == &weekdaySpec && values.has(daysPerWeek) {
		values = values.upTo(saturday) | 1<<sunday
	}
	return values, false, nil
}

// limits parses the ends of a range.
func (p part) limits(from, to string) (low, high int, err error) {
	if low, err = p.value(from); err != nil {
		return 0, 0, err
	}
	if high, err = p.value(to); err != nil {
		return 0, 0, err
	}
	_, isNumber := digits(to)
	switch {
	case p.spec != &weekdaySpec:
	case high == sunday && !isNumber && low > sunday:
		high = daysPerWeek // as in FRI-SUN
	case low == daysPerWeek && high < daysPerWeek:
		low = sunday // as in 7-2
	}
	if low > high {
		return 0, 0, p.refuse("runs backwards; write two ranges, %s-%d and %d-%s", from, p.whole, p.low, to)
	}
	return low, high, nil
}

// value parses a number or a name.
func (p part) value(text string) (int, error) {
	if i := slices.IndexFunc(p.names, func(name string) bool { return text == name || text == name[:shortName] }); i >= 0 {
		return p.low + i, nil
	}
	n, ok := digits(text)
	switch {
	case !ok:
		return 0, p.refuse("is not valid; use %s", p.allowed)
	case n < p.low || n > p.high:
		return 0, p.refuse("is out of range; use %s", p.allowed)
	}
	return n, nil
}

// digits parses a number without a sign. It stops once the number exceeds every allowed
// value.
func digits(text string) (n int, ok bool) {
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = min(n*10+int(c-'0'), 9999)
	}
	return n, text != ""
}

// upper converts ASCII letters only, so that the length stays the same and no other letter
// turns into one of a name.
func upper(text string) string {
	letters := []byte(text)
	for i, c := range letters {
		if c >= 'a' && c <= 'z' {
			letters[i] = c - 'a' + 'A'
		}
	}
	return string(letters)
}
