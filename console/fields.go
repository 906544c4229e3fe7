package console

import (
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
)

// count is a field that is a whole number from 0 on; zero if it is empty.
func (p *parameters) count(name string) int32 {
	n := p.integer(name)
	if n < 0 {
		p.refuse(name, p.v.T("must be 0 or more"))
	}
	return n
}

// counts is a field with numbers from 0 on, which commas, spaces or lines set apart.
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

// span is a field that is a duration as 90s or 1m30s; nil if it is empty.
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

// ticked reports whether a box was ticked.
func (p *parameters) ticked(name string) bool { return p.text(name) == "true" }

// edited reports whether a field of a form has another value than when it was opened.
func (p *parameters) edited(name string) bool {
	return strings.TrimSpace(p.values.Get(name)) != strings.TrimSpace(p.values.Get(wasPrefix+name))
}

// Span is a duration as a field takes it.
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

// FieldTime is a time as a field takes it: in the viewer's zone, to the millisecond.
func (v *visit) FieldTime(value any) string {
	at := moment(value)
	if at.IsZero() {
		return ""
	}
	return at.In(v.Zone).Format("2006-01-02T15:04:05.999")
}
