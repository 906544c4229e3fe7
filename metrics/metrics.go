// Package metrics exports metrics of a node and its store to Prometheus.
//
//	m := metrics.New(metrics.Options{})
//	store := m.Store(opened) // measures the calls of nodes
//	node, err := engine.New(store, mux, engine.Options{Observer: m})
//	m.Watch(node, store)     // reads both on each scrape
//	http.Handle("GET /metrics", m.Handler())
//
// Counters of a node are its own: sum them over all nodes. Values read from the store are
// the same on every node: use the maximum. docs/reference/metrics.md lists all metrics and
// suggests alerts.
package metrics

import (
	"log/slog"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Options configures Metrics. The zero value is valid.
type Options struct {
	Version string       // version in the label of fairlead_build_info
	Logger  *slog.Logger // default slog.Default()
}

// Metrics collects one process's metrics. It implements engine.Observer and bulk.Observer.
type Metrics struct {
	registry *prometheus.Registry
	log      *slog.Logger
	observer
	statements *prometheus.HistogramVec
}

// New returns Metrics with its own registry. Metrics that other packages register elsewhere
// are not included.
func New(options Options) *Metrics {
	if options.Logger == nil {
		options.Logger = slog.Default()
	}
	m := &Metrics{registry: prometheus.NewRegistry(), log: options.Logger, observer: newObserver()}
	m.statements = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "fairlead_store_seconds", Help: "Duration of calls to the store, such as enqueue, claim, settle, beat, promote and reap.",
		Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
	}, []string{"statement"})
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "fairlead_build_info", Help: "Always 1. The label contains the version.",
		ConstLabels: prometheus.Labels{"version": options.Version},
	})
	build.Set(1)
	m.register(m.registry)
	m.registry.MustRegister(
		m.statements, build,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return m
}

// Handler returns the HTTP handler for scrapes. If a metric cannot be read, the handler
// omits it and still exports the others.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError,
		ErrorLog:      slog.NewLogLogger(m.log.Handler(), slog.LevelWarn),
	})
}
