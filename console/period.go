package console

import (
	"maps"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"
)

// offeredLengths lists the presets offered for periods that end now.
var offeredLengths = []string{"15m", "1h", "6h", "24h", "7d"}

// knownLengths lists the lengths that links may contain. Earlier versions offered some more.
var knownLengths = []string{"5m", "15m", "30m", "1h", "6h", "24h", "7d", "30d"}

// leastSpan is the minimum length of a period.
const leastSpan = 10 * time.Millisecond

// period is the time range of a page about the past. The viewer chooses it with the
// parameters last, or from and to.
type period struct {
	From, To time.Time // To is the current time unless the viewer chose an end; zero From = unlimited
	Last     string    // length of a period that ends now; empty = the period is fixed or unlimited
	Ended    bool      // whether the viewer chose an end
	Of       string    // label of the timestamp that the period filters on; empty if obvious from the page
	Presets  []preset
	Now      string // link to the period of the same length that ends now; empty unless Ended
	Fixed    string // link that keeps showing the current period; empty if the page already does
}

// preset links to a period.
type preset struct {
	Text, Href string
	Current    bool
}

// Chosen reports whether the ends of the period are fixed.
func (p *period) Chosen() bool { return p.Last == "" && !p.Unlimited() }

// Unlimited reports whether the period is all of the past.
func (p *period) Unlimited() bool { return p.From.IsZero() && !p.Ended }

// starts returns the start of the period for a request; nil = unlimited.
func (p *period) starts() *timestamppb.Timestamp {
	if p.From.IsZero() {
		return nil
	}
	return timestamppb.New(p.From)
}

// ends returns the end of the period for a request; nil = unlimited.
func (p *period) ends() *timestamppb.Timestamp {
	if !p.Ended {
		return nil
	}
	return timestamppb.New(p.To)
}

// has reports whether a time is before the end of the period.
func (p *period) has(at time.Time) bool { return !p.Ended || at.Before(p.To) }

// parameters returns the parameters of a link to another page with the same period.
func (p *period) parameters() []any {
	switch {
	case p.Last != "":
		return []any{"last", p.Last}
	case p.Ended:
		return []any{"from", p.From, "to", p.To}
	}
	return []any{"from", p.From}
}

// PeriodHref returns the link to another page with the same period.
func (v *visit) PeriodHref(path string, p *period) string { return v.Href(path, p.parameters()...) }

// lengthOf parses the length of a period such as 1h or 7d.
func lengthOf(written string) time.Duration {
	if days, found := strings.CutSuffix(written, "d"); found {
		return time.Duration(integer(days)) * 24 * time.Hour
	}
	length, _ := time.ParseDuration(written) // one of a fixed list, so valid
	return length
}

// period reads the period from the parameters. Without them, it uses the default length; an
// empty default means unlimited.
func (p *parameters) period(usual string) *period {
	others := slices.DeleteFunc(slices.Clone(knownLengths), func(last string) bool { return last == usual })
	last := p.choice("last", append([]string{usual}, others...)...)
	from, to := p.instant("from"), p.instant("to")
	v := p.v
	span := &period{From: from, To: to, Ended: !to.IsZero()}
	if !span.Ended {
		span.To = v.Now
	}
	length := lengthOf(last)
	if from.IsZero() && last != "" {
		span.From = span.To.Add(-length)
		if !span.Ended { // truncated to the minute, so that links and cached responses stay valid for that long
			span.Last, span.From = last, span.From.Truncate(time.Minute)
		}
	}
	if !span.From.IsZero() && span.To.Sub(span.From) < leastSpan && p.wrong == nil {
		if span.Ended {
			p.refuse("to", v.T("must be at least 10ms after from"))
		} else {
			p.refuse("from", v.T("must be in the past"))
		}
	}
	span.offer(v, usual)
	return span
}

// instant returns a parameter that is a time, or zero if it is absent. A time without a
// zone would mean something else to a viewer in another time zone, so the page redirects to
// a URL that includes the zone.
func (p *parameters) instant(name string) time.Time {
	at := moment(p.time(name))
	if _, err := time.Parse(time.RFC3339, p.v.Get(name)); err != nil && !at.IsZero() {
		p.v.Query.Set(name, text(at))
		p.v.moved = true
	}
	return at
}

// renamed reads a parameter under the name that it had in earlier versions.
func (p *parameters) renamed(old, name string) {
	query := p.v.Query
	if values := query[old]; len(values) > 0 && !query.Has(name) {
		query[name] = values
	}
	query.Del(old)
}

// offer sets the links of the period.
func (p *period) offer(v *visit, usual string) {
	if usual == "" {
		p.Presets = append(p.Presets, preset{Text: v.T("Any time"), Href: v.inPeriod("", "", ""), Current: p.Unlimited()})
	}
	lengths := offeredLengths
	if p.Last != "" && !slices.Contains(lengths, p.Last) {
		lengths = append(slices.Clone(lengths), p.Last)
	}
	for _, last := range lengths {
		p.Presets = append(p.Presets, preset{Text: v.Dur(lengthOf(last)), Href: v.inPeriod(last, "", ""), Current: p.Last == last})
	}
	switch {
	case p.From.IsZero():
	case p.Ended:
		p.Now = v.inPeriod(nearestLength(p.To.Sub(p.From)), "", "")
	default: // truncated to the minute; otherwise a live page would change on every tick
		p.Fixed = v.inPeriod("", p.From, v.Now.Truncate(time.Minute).Add(time.Minute))
	}
}

// nearestLength returns the shortest offered length that is at least as long as a period.
func nearestLength(length time.Duration) string {
	for _, last := range offeredLengths {
		if lengthOf(last) >= length {
			return last
		}
	}
	return offeredLengths[len(offeredLengths)-1]
}

// inPeriod returns the link to this page with another period.
func (v *visit) inPeriod(last string, from, to any) string {
	return v.Here("last", last, "from", from, "to", to, "at_most", "", "down_to", "")
}

// hiddenField is a hidden field of a form.
type hiddenField struct {
	Name, Value string
}

// PeriodFields returns hidden fields that preserve the period when the filter form is
// submitted.
func (v *visit) PeriodFields() (fields []hiddenField) {
	for _, name := range []string{"last", "from", "to"} {
		if value := v.Get(name); value != "" {
			fields = append(fields, hiddenField{name, value})
		}
	}
	return fields
}

// FilterFields returns hidden fields that preserve the filters when the period form is
// submitted.
func (v *visit) FilterFields() (fields []hiddenField) {
	for _, name := range slices.Sorted(maps.Keys(v.Query)) {
		if slices.Contains([]string{"last", "from", "to", "page", "at_most", "down_to"}, name) {
			continue
		}
		for _, value := range v.All(name) {
			fields = append(fields, hiddenField{name, value})
		}
	}
	return fields
}
