package console

import (
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
)

// count returns a field that is a nonnegative integer, or zero if it is empty.
func (p *parameters) count(name string) int32 {
	n := p.integer(name)
	if n < 0 {
		p.refuse(name, p.v.T("must be 0 or more"))
	}
	return n
}

// counts returns a field with nonnegative numbers, separated by commas, spaces or line
// breaks.
func (p *parameters) counts(name string) (all []int64) {
	for _, given := range numbersIn(p.text(name)) {
		n, err := strconv.ParseInt(given, 10, 64)
		if err != nil || n < 0 {
			p.refuse(name, p.v.T("must be comma-separated whole numbers such as 17, 18"))
			return nil
		}
		all = append(all, n)
	}
	return all
}

// span returns a field that is a duration such as 90s or 1m30s, or nil if it is empty.
func (p *parameters) span(name string) *durationpb.Duration {
	given := p.text(name)
	if given == "" {
		return nil
	}
	d, err := time.ParseDuration(given)
	if err != nil || d < 0 {
		p.refuse(name, p.v.T("must be a duration such as 500ms, 20s or 1m30s"))
		return nil
	}
	return durationpb.New(d)
}

// ticked reports whether a checkbox was checked.
func (p *parameters) ticked(name string) bool { return p.text(name) == "true" }

// edited reports whether the value of a form field was changed since the form was opened.
func (p *parameters) edited(name string) bool {
	return strings.TrimSpace(p.values.Get(name)) != strings.TrimSpace(p.values.Get(wasPrefix+name))
}

// Span formats a duration for a field.
func (v *visit) Span(value any) string {
	d := span(value)
	if d == 0 {
		return ""
	}
	written := d.String() // 1h0m0s
	if short, is := strings.CutSuffix(written, "m0s"); is {
		written = short + "m"
	}
	if short, is := strings.CutSuffix(written, "h0m"); is {
		written = short + "h"
	}
	return written
}

// FieldTime formats a time for a field: in the viewer's zone, to the millisecond.
func (v *visit) FieldTime(value any) string {
	at := moment(value)
	if at.IsZero() {
		return ""
	}
	return at.In(v.Zone).Format("2006-01-02T15:04:05.999")
}
