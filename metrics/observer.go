package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/bulk"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/schedule"
)

var (
	_ engine.Observer = (*Metrics)(nil)
	_ bulk.Observer   = (*Metrics)(nil)
)

// observer counts the actions of the node.
type observer struct {
	engine.NoObserver

	claims, claimed   prometheus.Counter
	durations         *durations
	failures          *prometheus.CounterVec
	unwritten         prometheus.Counter
	refused           prometheus.Counter
	leaseLosses       prometheus.Counter
	reaped, lostNodes prometheus.Counter
	abandoned         prometheus.Counter
	uncounted, stalls prometheus.Counter
	unreaped          prometheus.Gauge
	fires, bulkJobs   *prometheus.CounterVec
	lateness          prometheus.Histogram
}

func newObserver() observer {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	return observer{
		claims:    counter("fairlead_claims_total", "Successful claims."),
		claimed:   counter("fairlead_claimed_jobs_total", "Jobs that this node claimed."),
		durations: newDurations(),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "fairlead_failed_attempts_total", Help: "Failed attempts, whether or not the job runs again; reason is error, fatal, panic or timeout.",
		}, []string{"kind", "reason"}),
		unwritten:   counter("fairlead_job_update_failures_total", "Results of attempts that could not be written. The node repeats the write."),
		refused:     counter("fairlead_fenced_writes_refused_total", "Writes rejected because the job had been taken away from this node. They changed nothing."),
		leaseLosses: counter("fairlead_lease_losses_total", "Number of times this node lost its lease and rejoined."),
		reaped:      counter("fairlead_reaped_total", "Jobs that this node took back from dead nodes."),
		lostNodes:   counter("fairlead_lost_nodes_total", "Nodes that this node declared dead because their lease expired. Nodes that left are not counted."),
		fires:       prometheus.NewCounterVec(prometheus.CounterOpts{Name: "fairlead_fires_total", Help: "Due instants of schedules that this node processed; outcome is run, queued, skipped_overlap, skipped_failure or skipped_concurrency."}, []string{"outcome"}),
		lateness: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "fairlead_fire_lateness_seconds", Help: "Delay between the due instant of a schedule and the creation of its run.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 60, 600},
		}),
		bulkJobs:  prometheus.NewCounterVec(prometheus.CounterOpts{Name: "fairlead_bulk_jobs_total", Help: "Jobs that bulks processed on this node; outcome is done or missed."}, []string{"outcome"}),
		uncounted: counter("fairlead_batch_update_failures_total", "Failed checks of batches. The node repeats them."),
		stalls:    counter("fairlead_stalls_total", "Number of times this node restarted claiming because it had work and free slots, but claimed and finished nothing for --blocking-count-limit polls."),
		unreaped: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "fairlead_unreaped_jobs", Help: "Jobs that dead nodes have held for longer than six leases. No node has taken them back, so they do not run.",
		}),
		abandoned: counter("fairlead_abandoned_handlers_total", "Handlers that did not return within the grace period after their context ended."),
	}
}

func (o *observer) register(registry *prometheus.Registry) {
	registry.MustRegister(o.claims, o.claimed, o.durations.all, o.failures, o.unwritten, o.refused, o.leaseLosses, o.reaped, o.lostNodes, o.abandoned, o.fires, o.lateness, o.uncounted, o.stalls, o.unreaped, o.bulkJobs)
}

// Claimed counts a claim.
func (o *observer) Claimed(jobs int, _ time.Duration) {
	o.claims.Inc()
	o.claimed.Add(float64(jobs))
}

// Ended counts the end of a run. A run that was given back before it began does not count.
func (o *observer) Ended(job *fairlead.Job, settlement fairlead.Settlement, settled fairlead.Settled, took time.Duration) {
	how := outcomeOf(settlement.Move, settled)
	if how == lost {
		o.refused.Inc()
	}
	if took > 0 {
		o.durations.of(job.Kind, how).Observe(took.Seconds())
	}
	if (how == failed || how == retried) && settlement.Reason != "" {
		o.failures.WithLabelValues(job.Kind, string(settlement.Reason)).Inc()
	}
}

// Flushed counts settlements that could not be written.
func (o *observer) Flushed(settlements int, _ time.Duration, err error) {
	if err != nil {
		o.unwritten.Add(float64(settlements))
	}
}

// Reaped counts jobs that were taken back, with any outcome.
func (o *observer) Reaped(reaped driver.Reaped) {
	o.lostNodes.Add(float64(reaped.Nodes))
	o.reaped.Add(float64(reaped.Jobs + reaped.Poisoned + reaped.Cancelled))
}

// BulkStepped counts the jobs of a step of a bulk.
func (o *observer) BulkStepped(done, missed int64) {
	o.bulkJobs.WithLabelValues("done").Add(float64(done))
	o.bulkJobs.WithLabelValues("missed").Add(float64(missed))
}

// LeaseLost counts lost leases, after which the node joins again.
func (o *observer) LeaseLost() { o.leaseLosses.Inc() }

// Conducted counts failed checks of batches.
func (o *observer) Conducted(_ time.Duration, err error) {
	if err != nil {
		o.uncounted.Inc()
	}
}

// Unreaped sets the number of jobs of dead nodes that are yet to be taken back.
func (o *observer) Unreaped(jobs int) { o.unreaped.Set(float64(jobs)) }

// Stalled counts a stall.
func (o *observer) Stalled() { o.stalls.Inc() }

// Abandoned counts handlers that did not return.
func (o *observer) Abandoned(*fairlead.Job) { o.abandoned.Inc() }

// Fired counts a fire, and measures the delay of a scheduled run.
func (o *observer) Fired(fire schedule.PlannedFire, late time.Duration) {
	outcome := "run"
	switch {
	case fire.Skip != "":
		outcome = "skipped_" + string(fire.Skip)
	case fire.Queued:
		outcome = "queued"
	}
	o.fires.WithLabelValues(outcome).Inc()
	if fire.Trigger == schedule.TriggerCron && fire.Skip == "" {
		o.lateness.Observe(late.Seconds())
	}
}
