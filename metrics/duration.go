package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fairlead-io/fairlead"
)

// outcome is the result of a run.
type outcome int

const (
	succeeded outcome = iota
	failed            // failed for good
	cancelled
	retried
	snoozed
	released
	waiting // waiting for an answer
	lost    // the job had been taken away, so the run's result does not count
	outcomes
)

var outcomeNames = [outcomes]string{"succeeded", "failed", "cancelled", "retried", "snoozed", "released", "waiting", "lost"}

func outcomeOf(move fairlead.Move, settled fairlead.Settled) outcome {
	switch settled {
	case fairlead.SettledLost:
		return lost
	case fairlead.SettledCancelled:
		return cancelled
	}
	switch move {
	case fairlead.Fail:
		return failed
	case fairlead.Drop:
		return cancelled
	case fairlead.Again:
		return retried
	case fairlead.Snooze:
		return snoozed
	case fairlead.MoveRelease:
		return released
	case fairlead.MoveAwait:
		return waiting
	default:
		return succeeded
	}
}

// durations contains the histograms of run durations. Labels are looked up once per kind
// and outcome, not for each job.
type durations struct {
	all *prometheus.HistogramVec

	mu    sync.RWMutex
	kinds map[string]*[outcomes]prometheus.Observer // nil = has not happened yet
}

func newDurations() *durations {
	return &durations{
		kinds: map[string]*[outcomes]prometheus.Observer{},
		all: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "fairlead_job_duration_seconds", Help: "Duration of attempts. The _count is the number of attempts with this outcome.",
			Buckets: []float64{.001, .005, .01, .05, .1, .5, 1, 5, 10, 30, 60, 300, 1800, 3600},
		}, []string{"kind", "outcome"}),
	}
}

func (d *durations) of(kind string, how outcome) prometheus.Observer {
	d.mu.RLock()
	known := d.kinds[kind]
	if known != nil && known[how] != nil {
		defer d.mu.RUnlock()
		return known[how]
	}
	d.mu.RUnlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.kinds[kind] == nil {
		d.kinds[kind] = new([outcomes]prometheus.Observer)
	}
	d.kinds[kind][how] = d.all.WithLabelValues(kind, outcomeNames[how])
	return d.kinds[kind][how]
}
