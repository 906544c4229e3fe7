package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// text formats a value for a URL.
func text(value any) string {
	switch value := value.(type) {
	case nil:
		return ""
	case string:
		return value
	case time.Time:
		if value.IsZero() {
			return ""
		}
		return value.UTC().Format(time.RFC3339Nano)
	case *timestamppb.Timestamp:
		return text(moment(value))
	case float64:
		return strconv.FormatFloat(value, 'f', -1, 64)
	case bool:
		if !value {
			return ""
		}
	}
	return fmt.Sprint(value)
}

// integer converts a number of any type.
func integer(value any) int64 {
	n, _ := strconv.ParseInt(fmt.Sprint(value), 10, 64)
	return n
}

// moment converts a time of the API or of Go, or returns zero if it is not set.
func moment(value any) time.Time {
	switch value := value.(type) {
	case time.Time:
		return value
	case *timestamppb.Timestamp:
		if value != nil {
			return value.AsTime()
		}
	}
	return time.Time{}
}

// span converts a duration of the API or of Go.
func span(value any) time.Duration {
	switch value := value.(type) {
	case time.Duration:
		return value
	case *durationpb.Duration:
		if value != nil {
			return value.AsDuration()
		}
	}
	return 0
}

// Num formats a number for people: 1,234,567.
func (v *visit) Num(value any) string {
	digits := strconv.FormatInt(integer(value), 10)
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// Rate formats a number per second: 0.25, 3, 3.1, 120.
func (v *visit) Rate(rate float64) string {
	switch {
	case rate < 1:
		return strconv.FormatFloat(math.Round(100*rate)/100, 'f', -1, 64)
	case rate < 100:
		return strconv.FormatFloat(math.Round(10*rate)/10, 'f', -1, 64)
	}
	return v.Num(int64(rate + 0.5))
}

// When formats a time in the viewer's zone, with UTC in a tooltip. It also shows the given
// zones.
func (v *visit) When(value any, zones ...string) template.HTML {
	at := moment(value)
	if at.IsZero() {
		return `<span class="none">–</span>`
	}
	return v.timeElement(at, v.clock(at), zones)
}

// WhenExactly formats a time like When, but to the millisecond.
func (v *visit) WhenExactly(at time.Time) template.HTML {
	return v.timeElement(at, v.exactClock(at), nil)
}

// Ago formats the distance of a time from now, in the past or the future.
func (v *visit) Ago(value any, zones ...string) template.HTML {
	at := moment(value)
	if at.IsZero() {
		return `<span class="none">–</span>`
	}
	distance := v.Now.Sub(at)
	words := v.T("just now")
	switch {
	case distance >= time.Second:
		words = v.T("%s ago", v.Dur(rounded(distance)))
	case distance <= -time.Second:
		words = v.T("in %s", v.Dur(rounded(-distance)))
	}
	return v.timeElement(at, words, zones)
}

// rounded removes insignificant digits of a duration.
func rounded(d time.Duration) time.Duration {
	switch {
	case d < time.Minute:
		return d.Truncate(time.Second)
	case d < time.Hour:
		return d.Truncate(time.Minute)
	}
	return d.Truncate(time.Hour)
}

// Clock formats a time in the viewer's zone.
func (v *visit) Clock(at time.Time) string { return v.clock(at) }

// clock formats a time of day, with the date unless it is today.
func (v *visit) clock(at time.Time) string {
	local, today := at.In(v.Zone), v.Now.In(v.Zone)
	switch {
	case local.YearDay() == today.YearDay() && local.Year() == today.Year():
		return local.Format("15:04:05")
	case local.Year() == today.Year():
		return local.Format("01-02 15:04:05")
	}
	return local.Format("2006-01-02 15:04")
}

// exactClock formats a time like clock, but to the millisecond.
func (v *visit) exactClock(at time.Time) string {
	local, today := at.In(v.Zone), v.Now.In(v.Zone)
	switch {
	case local.YearDay() == today.YearDay() && local.Year() == today.Year():
		return local.Format("15:04:05.000")
	case local.Year() == today.Year():
		return local.Format("01-02 15:04:05.000")
	}
	return local.Format("2006-01-02 15:04:05.000")
}

func (v *visit) timeElement(at time.Time, words string, zones []string) template.HTML {
	hint := []string{at.In(v.Zone).Format("2006-01-02 15:04:05.000") + " " + v.Zone.String(), at.UTC().Format("2006-01-02 15:04:05.000") + " UTC"}
	for _, name := range zones {
		if zone, err := time.LoadLocation(name); err == nil && name != "" && name != "UTC" && name != v.Zone.String() {
			hint = append(hint, at.In(zone).Format("2006-01-02 15:04:05.000")+" "+name)
		}
	}
	escape := template.HTMLEscapeString
	return template.HTML(fmt.Sprintf(`<time datetime="%s" title="%s">%s</time>`, at.UTC().Format(time.RFC3339Nano), escape(strings.Join(hint, "\n")), escape(words)))
}

// JSON formats a document for people, with indentation. Numbers retain all digits;
// passwords in URLs are removed.
func (v *visit) JSON(document []byte) string {
	document = v.Beginning(withoutUserinfo(document))
	var b bytes.Buffer
	if json.Indent(&b, document, "", "  ") != nil {
		return string(document)
	}
	return b.String()
}

// Line formats a document on one line, without passwords in URLs.
func (v *visit) Line(document []byte) string {
	document = v.Beginning(withoutUserinfo(document))
	var b bytes.Buffer
	if json.Compact(&b, document) != nil {
		return string(document)
	}
	return b.String()
}

// dict returns a map of names and values, for a nested template.
func dict(pairs ...any) (map[string]any, error) {
	if len(pairs)%2 != 0 {
		return nil, fmt.Errorf("dict: %d names and values", len(pairs))
	}
	out := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		out[fmt.Sprint(pairs[i])] = pairs[i+1]
	}
	return out, nil
}
