package sqlstore

import (
	"fmt"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
)

// mostSentences is how many waits sentences speak of.
const mostSentences = 5

// sentences say the most of a forecast for people.
func sentences(f *fairlead.Forecast, gates []string) []string {
	text := []string{summary(f)}
	for _, wait := range f.Waits[:min(len(f.Waits), mostSentences)] {
		if wait.Effect != fairlead.NoEffect {
			text = append(text, sentence(f, wait))
		}
	}
	if more := f.Later + f.Sooner - mostSentences; more > 0 {
		text = append(text, fmt.Sprintf("%d more queues, tenants and kinds get later or sooner", more))
	}
	if !f.After.Token.IsZero() && !f.After.Token.Equal(f.Before.Token) {
		wait := f.After.Token.Sub(f.At)
		text = append(text, fmt.Sprintf("after these starts, a rate holds the next job back for %v, until %s", wait.Round(time.Millisecond), stamp(f.After.Token)))
	}
	return append(text, gates...)
}

// summary says how many starts change.
func summary(f *fairlead.Forecast) string {
	before, after := jobsOf(f.Before), jobsOf(f.After)
	gone := slices.DeleteFunc(slices.Clone(before), func(id int64) bool { return slices.Contains(after, id) })
	come := slices.DeleteFunc(slices.Clone(after), func(id int64) bool { return slices.Contains(before, id) })
	switch {
	case slices.Equal(before, after):
		return fmt.Sprintf("the next starts stay as they are: %s for %d slots", jobsCounted(len(after)), f.Slots)
	case len(gone)+len(come) == 0:
		return fmt.Sprintf("the same %s start, in another order", jobsCounted(len(after)))
	}
	return fmt.Sprintf("of %d slots %d are filled instead of %d: %s would start and wait now, %s would wait and start now",
		f.Slots, len(after), len(before), jobsCounted(len(gone)), jobsCounted(len(come)))
}

// sentence says what becomes of the jobs of a lane.
func sentence(f *fairlead.Forecast, w fairlead.ForecastWait) string {
	text := fmt.Sprintf("tenant %q, kind %q in queue %q, gets %s: %d of %d starts instead of %d",
		w.Tenant, w.Kind, w.Queue, w.Effect, w.After.Starts, len(f.After.Starts), w.Before.Starts)
	for _, o := range newly(w.After.Held, w.Before.Held) {
		text += "; then " + o.Text
	}
	for _, o := range newly(w.Before.Held, w.After.Held) {
		text += "; no longer " + o.Text
	}
	return text
}

func jobsOf(o fairlead.Outlook) []int64 {
	ids := make([]int64, len(o.Starts))
	for i, start := range o.Starts {
		ids[i] = start.Job
	}
	return ids
}

func jobsCounted(n int) string {
	if n == 1 {
		return "1 job"
	}
	return fmt.Sprintf("%d jobs", n)
}

// gates say of which kinds parked jobs are not foreseen.
func (s *scene) gates(question fairlead.WhatIf) (text []string) {
	rules := s.sheet.rules()
	for _, change := range question.Changes {
		limit := change.Limit
		if limit == nil || limit.Scope != fairlead.LimitKind {
			continue
		}
		if places := max(1, limit.PerKey); places != rules.Places(limit.Name) {
			text = append(text, fmt.Sprintf("kind %q admits %d jobs with the same concurrency key instead of %d: which parked jobs that admits is not part of this forecast",
				limit.Name, places, rules.Places(limit.Name)))
		}
	}
	return text
}
