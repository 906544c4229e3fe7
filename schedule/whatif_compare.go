package schedule

import (
	"context"
	"fmt"
	"time"
)

// mostSentences is how many instants of a schedule sentences speak of.
const mostSentences = 5

// forecast compares a schedule before, if there is one, and after. It fails once the caller
// has gone: many schedules may take long.
func (w *asking) forecast(ctx context.Context, named, before *Schedule, is View, after *Schedule, then View) (ScheduleForecast, error) {
	out := ScheduleForecast{ID: named.ID, Name: named.Name, Tenant: named.Job.Tenant}
	if err := ctx.Err(); err != nil {
		return out, err
	}
	var were []foreseen
	if before != nil {
		var err error
		if were, err = before.foresee(is, w.instants); err != nil {
			out.Broken = err.Error()
		}
	}
	will, err := after.foresee(then, w.instants)
	if err != nil {
		return out, err
	}
	out.Instants = sideBySide(were, will, w.instants)
	for _, instant := range out.Instants {
		if instant.Effect != SameInstant {
			out.Moved++
		}
	}
	out.Text = out.sentences()
	return out, nil
}

// sideBySide merges two lists of instants, each of at most n in order. Of a list that is
// full nothing is known behind its end: so the comparison ends there.
func sideBySide(before, after []foreseen, n int) (both []InstantForecast) {
	before, after = upTo(horizon(after, n), before), upTo(horizon(before, n), after)
	for len(before)+len(after) > 0 {
		var next InstantForecast
		if len(after) == 0 || len(before) > 0 && before[0].due.Before(after[0].due) {
			next.Due = before[0].due
		} else {
			next.Due = after[0].due
		}
		next.Before, before = taken(next.Due, before)
		next.After, after = taken(next.Due, after)
		next.Effect = next.effect()
		both = append(both, next)
	}
	return both
}

// horizon is the last instant of a list that has as many as were asked for; zero: the list
// has all there are.
func horizon(list []foreseen, n int) time.Time {
	if len(list) < n {
		return time.Time{}
	}
	return list[n-1].due
}

// upTo cuts a list at a horizon.
func upTo(end time.Time, list []foreseen) []foreseen {
	for i := range list {
		if !end.IsZero() && list[i].due.After(end) {
			return list[:i]
		}
	}
	return list
}

// taken takes the first instant off a list if it is the one that is meant.
func taken(due time.Time, list []foreseen) (*Prospect, []foreseen) {
	if len(list) == 0 || !list[0].due.Equal(due) {
		return nil, list
	}
	return &list[0].Prospect, list[1:]
}

// effect is what the changes do to an instant.
func (i *InstantForecast) effect() InstantEffect {
	switch {
	case i.Before == nil:
		return Appears
	case i.After == nil:
		return Disappears
	case i.Before.Words() != i.After.Words():
		return Becomes
	case !i.Before.FireAt.Equal(i.After.FireAt):
		return Moves
	}
	return SameInstant
}

// Words describes the prospect in plain English.
func (p *Prospect) Words() string {
	switch {
	case p.Skip == SkipOverlap:
		return "is skipped because an earlier run is active"
	case p.Skip == SkipFailure:
		return "is skipped because the last run has failed"
	case p.Skip == SkipConcurrency:
		return "is skipped because the maximum number of runs is active"
	case p.Queued:
		return "waits for an earlier run"
	case p.Cancels > 0:
		return fmt.Sprintf("replaces %d active runs", p.Cancels)
	}
	return "runs"
}

// sentences say the most of it for people.
func (f *ScheduleForecast) sentences() (text []string) {
	if f.Moved == 0 {
		return []string{fmt.Sprintf("schedule %q: its next %d fires would not change", f.Name, len(f.Instants))}
	}
	text = append(text, fmt.Sprintf("schedule %q: %d of its next %d fires would change", f.Name, f.Moved, len(f.Instants)))
	for _, instant := range f.Instants {
		if instant.Effect != SameInstant && len(text) <= mostSentences {
			text = append(text, instant.sentence())
		}
	}
	if f.Moved > mostSentences {
		text = append(text, fmt.Sprintf("and %d more", f.Moved-mostSentences))
	}
	return text
}

func (i *InstantForecast) sentence() string {
	due := i.Due.UTC().Format(time.RFC3339)
	switch i.Effect {
	case Appears:
		return fmt.Sprintf("%s is added: it %s", due, i.After.Words())
	case Disappears:
		return due + " is removed"
	case Moves:
		return fmt.Sprintf("%s fires at %s instead of %s", due, i.After.FireAt.UTC().Format(time.RFC3339), i.Before.FireAt.UTC().Format(time.RFC3339))
	}
	return fmt.Sprintf("%s: it %s (before: it %s)", due, i.After.Words(), i.Before.Words())
}
