package cron

import "strings"

// readDates parses the day of month.
func (d *days) readDates(f *field) error {
	list := f.parts()
	for _, p := range list {
		base, isNearest := strings.CutSuffix(p.text, "W")
		before, isFromEnd := strings.CutPrefix(base, "L")
		switch {
		case isFromEnd:
			n, ok := fromEnd(before)
			if !ok {
				return p.refuse("needs a number of days from 0 to 30 after L-")
			}
			if isNearest {
				d.workEnd.add(n)
			} else {
				d.fromEnd.add(n)
			}
		case isNearest:
			n, ok := digits(base)
			if !ok || n < 1 || n > 31 {
				return p.refuse("needs one day from 1 to 31, or L, before W")
			}
			d.nearest.add(n)
		default:
			values, whole, err := p.values(len(list) == 1)
			if err != nil {
				return err
			}
			d.dates, d.anyDate = d.dates|values, whole
		}
	}
	return nil
}

// fromEnd parses the number of days before the last one, which follows an L.
func fromEnd(text string) (n int, ok bool) {
	if text == "" {
		return 0, true
	}
	text, ok = strings.CutPrefix(text, "-")
	n, isNumber := digits(text)
	return n, ok && isNumber && n <= 30
}

// readWeekdays parses the day of week.
func (d *days) readWeekdays(f *field) error {
	list := f.parts()
	for _, p := range list {
		weekday, nth, isNth := strings.Cut(p.text, "#")
		lastOf, isLast := strings.CutSuffix(p.text, "L")
		switch {
		case p.text == "L":
			return p.refuse("needs a weekday before it; 5L is the last Friday of the month")
		case isNth:
			day, err := p.value(weekday)
			if err != nil {
				return err
			}
			n, ok := digits(nth)
			if !ok || n < 1 || n > 5 {
				return p.refuse("needs a number from 1 to 5 after #; 5#3 is the third Friday of the month")
			}
			d.nth.add(day%daysPerWeek + daysPerWeek*(n-1))
		case isLast:
			day, err := p.value(lastOf)
			if err != nil {
				return err
			}
			d.last.add(day % daysPerWeek)
		default:
			values, whole, err := p.values(len(list) == 1)
			if err != nil {
				return err
			}
			d.weekdays, d.anyWeekday = d.weekdays|values, whole
		}
	}
	return nil
}
