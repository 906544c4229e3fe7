package cron

import (
	"strconv"
	"strings"
)

// String returns the expression in normal form: six fields, or @every followed by the
// interval. Parsing the result returns an equal expression.
func (e Expr) String() string {
	if e.every > 0 {
		return "@every " + intervalText(e.every.String())
	}
	if e.hours == 0 {
		return "" // never due
	}
	return strings.Join([]string{
		plainText(e.seconds, &secondSpec),
		plainText(e.minutes, &minuteSpec),
		e.hoursText(),
		e.days.datesText(),
		plainText(e.months, &monthSpec),
		e.days.weekdaysText(),
	}, " ")
}

// intervalText removes zero minutes and seconds from an interval.
func intervalText(text string) string {
	if short, ok := strings.CutSuffix(text, "m0s"); ok {
		text = short + "m"
	}
	if short, ok := strings.CutSuffix(text, "h0m"); ok {
		text = short + "h"
	}
	return text
}

func (e *Expr) hoursText() string {
	if e.always {
		return plainText(e.hours, &hourSpec)
	}
	return valuesText(e.hours) // */n would mean real time
}

func (d *days) datesText() string {
	if d.anyDate {
		return "*"
	}
	var parts []string
	if d.dates != 0 {
		parts = append(parts, valuesText(d.dates))
	}
	for _, n := range d.nearest.members() {
		parts = append(parts, strconv.Itoa(n)+"W")
	}
	for _, n := range d.fromEnd.members() {
		parts = append(parts, fromEndText(n))
	}
	for _, n := range d.workEnd.members() {
		parts = append(parts, fromEndText(n)+"W")
	}
	return strings.Join(parts, ",")
}

func fromEndText(n int) string {
	if n == 0 {
		return "L"
	}
	return "L-" + strconv.Itoa(n)
}

func (d *days) weekdaysText() string {
	if d.anyWeekday {
		return "*"
	}
	var parts []string
	if d.weekdays != 0 {
		parts = append(parts, valuesText(d.weekdays))
	}
	for _, n := range d.nth.members() {
		parts = append(parts, strconv.Itoa(n%daysPerWeek)+"#"+strconv.Itoa(n/daysPerWeek+1))
	}
	for _, n := range d.last.members() {
		parts = append(parts, strconv.Itoa(n)+"L")
	}
	return strings.Join(parts, ",")
}

// plainText formats a field in which * and */n mean just their values.
func plainText(values set, spec *spec) string {
	if values == span(spec.low, spec.whole) {
		return "*"
	}
	n := values.stride()
	if n > 1 && values == steps(spec.low, spec.whole, n) {
		return "*/" + strconv.Itoa(n)
	}
	return valuesText(values)
}

// valuesText formats a list of values, with ranges for three or more consecutive ones.
func valuesText(values set) string {
	if n := values.stride(); n > 1 && values.size() > 2 {
		return strconv.Itoa(values.first()) + "-" + strconv.Itoa(values.last()) + "/" + strconv.Itoa(n)
	}
	var parts []string
	for _, run := range values.runs() {
		switch first, last := strconv.Itoa(run.first()), strconv.Itoa(run.last()); run.size() {
		case 1:
			parts = append(parts, first)
		case 2:
			parts = append(parts, first, last)
		default:
			parts = append(parts, first+"-"+last)
		}
	}
	return strings.Join(parts, ",")
}
