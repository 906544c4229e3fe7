package fairlead

import (
	"fmt"
	"slices"
	"time"
)

// mostSentences is how many waits sentences speak of.
const mostSentences = 5

// sentences say the most of the forecast for people.
func (f *Forecast) sentences() []string {
	text := []string{f.summary()}
	for _, wait := range f.Waits[:min(len(f.Waits), mostSentences)] {
		if wait.Effect != NoEffect {
			text = append(text, f.sentence(wait))
		}
	}
	if more := f.Later + f.Sooner - mostSentences; more > 0 {
		text = append(text, fmt.Sprintf("%d more combinations of tenant, kind and queue would start later or sooner", more))
	}
	if !f.After.Token.IsZero() && !f.After.Token.Equal(f.Before.Token) {
		wait := f.After.Token.Sub(f.At)
		text = append(text, fmt.Sprintf("after these starts, a rate holds the next job back for %v, until %s", wait.Round(time.Millisecond), f.After.Token.UTC().Format(time.RFC3339)))
	}
	for _, state := range f.Steady {
		text = append(text, state.sentence())
	}
	return text
}

// summary says how many starts change.
func (f *Forecast) summary() string {
	before, after := jobsOf(f.Before), jobsOf(f.After)
	gone := slices.DeleteFunc(slices.Clone(before), func(id int64) bool { return slices.Contains(after, id) })
	come := slices.DeleteFunc(slices.Clone(after), func(id int64) bool { return slices.Contains(before, id) })
	switch {
	case slices.Equal(before, after):
		return fmt.Sprintf("the next starts would not change: %s for %d slots", jobsCounted(len(after)), f.Slots)
	case len(gone)+len(come) == 0:
		return fmt.Sprintf("the same %s would start, in a different order", jobsCounted(len(after)))
	}
	return fmt.Sprintf("of %d slots, %d would be filled instead of %d: %s would wait instead of starting, and %s would start instead of waiting",
		f.Slots, len(after), len(before), jobsCounted(len(gone)), jobsCounted(len(come)))
}

// sentence says what becomes of the jobs of a lane.
func (f *Forecast) sentence(w ForecastWait) string {
	text := fmt.Sprintf("tenant %q, kind %q, queue %q would start %s: %d of %d starts instead of %d",
		w.Tenant, w.Kind, w.Queue, w.Effect, w.After.Starts, len(f.After.Starts), w.Before.Starts)
	for _, o := range w.After.HeldBeyond(w.Before) {
		text += "; newly held back because " + o.Text
	}
	for _, o := range w.Before.HeldBeyond(w.After) {
		text += "; no longer held back because " + o.Text
	}
	return text
}

// HeldBeyond returns w's obstacles that other does not have.
func (w WaitOutlook) HeldBeyond(other WaitOutlook) (found []Obstacle) {
	for _, o := range w.Held {
		if !slices.ContainsFunc(other.Held, func(known Obstacle) bool {
			return o.Code == known.Code && o.Scope == known.Scope && o.Name == known.Name
		}) {
			found = append(found, o)
		}
	}
	return found
}

func jobsOf(o Outlook) []int64 {
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
