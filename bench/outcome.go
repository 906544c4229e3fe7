package main

import (
	"slices"

	"github.com/fairlead-io/fairlead/internal/bench"
)

// outcome is a contest with its results.
type outcome struct {
	Name    string     `json:"name"`
	Title   string     `json:"title"`
	Entries []*entrant `json:"entries"`
}

// entrant is an entry with its results, one per round.
type entrant struct {
	entry   `json:"-"`
	Label   string         `json:"label"`
	Results []bench.Result `json:"results"`
}

func newOutcomes(contests []contest) []*outcome {
	outcomes := make([]*outcome, len(contests))
	for i, c := range contests {
		outcomes[i] = &outcome{Name: c.name, Title: c.title}
		for _, e := range c.entries {
			outcomes[i].Entries = append(outcomes[i].Entries, &entrant{entry: e, Label: e.label})
		}
	}
	return outcomes
}

// failed reports whether the entrant has no result.
func (e *entrant) failed() bool { return len(e.Results) == 0 }

// median returns the median of one figure over all rounds that have it.
func (e *entrant) median(figure func(bench.Result) float64) float64 {
	values := make([]float64, len(e.Results))
	for i, r := range e.Results {
		values[i] = figure(r)
	}
	slices.Sort(values)
	middle := len(values) / 2
	if len(values)%2 == 0 {
		return (values[middle-1] + values[middle]) / 2
	}
	return values[middle]
}

// Reported figures.
func rate(r bench.Result) float64       { return r.Rate }
func client(r bench.Result) float64     { return r.ClientMicros }
func server(r bench.Result) float64     { return r.ServerMicros }
func total(r bench.Result) float64      { return r.TotalMicros() }
func wal(r bench.Result) float64        { return r.WALBytes }
func p50(r bench.Result) float64        { return r.P50Millis }
func p99(r bench.Result) float64        { return r.P99Millis }
func firstThird(r bench.Result) float64 { return r.RateFirstThird }
func lastThird(r bench.Result) float64  { return r.RateLastThird }

// comparison contains the ratios between two entrants.
type comparison struct {
	ours, theirs string
	byRate       float64
	byCPU        float64 // their CPU time per job divided by ours
	byP50, byP99 float64 // their latency divided by ours; zero if it was not measured
}

func (o *outcome) comparisons() []comparison {
	var all []comparison
	for _, ours := range o.Entries {
		for _, theirs := range o.Entries {
			if ours.reference || !theirs.reference || ours.failed() || theirs.failed() {
				continue
			}
			all = append(all, comparison{
				ours: ours.Label, theirs: theirs.Label,
				byRate: quotient(ours.median(rate), theirs.median(rate)),
				byCPU:  quotient(theirs.median(total), ours.median(total)),
				byP50:  quotient(theirs.median(p50), ours.median(p50)),
				byP99:  quotient(theirs.median(p99), ours.median(p99)),
			})
		}
	}
	return all
}

func quotient(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// isLatency reports whether the contest measures latency, so that rates are meaningless.
func (o *outcome) isLatency() bool { return o.Entries[0].spec.Workload == bench.Latency }

// isLongTx reports whether the contest measures the decay of rates.
func (o *outcome) isLongTx() bool { return o.Entries[0].spec.Workload == bench.LongTx }
