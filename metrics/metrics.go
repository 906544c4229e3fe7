// Package metrics shows what a node and its store do to Prometheus.
//
//	m := metrics.New(metrics.Options{})
//	store := m.Store(opened) // times what nodes ask of it
//	node, err := engine.New(store, mux, engine.Options{Observer: m})
//	m.Watch(node, store)     // reads both when it is asked
//	http.Handle("GET /metrics", m.Handler())
//
// What each node counts is its own: add it up over nodes. What is read from the
// store is the same on every node: take the largest. docs/reference/metrics.md
// lists all of it, with what to alarm on.
package metrics

import (
	"log/slog"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Options of Metrics. The zero value is useful.
type Options struct {
	Version string       // shown as a label of fairlead_build_info
	Logger  *slog.Logger // default slog.Default()
}

// Metrics is what one process shows. It is an engine.Observer and a bulk.Observer.
type Metrics struct {
	registry *prometheus.Registry
	log      *slog.Logger
	observer
	statements *prometheus.HistogramVec
}

// New makes metrics with a registry of their own: what other packages of the
// program register elsewhere is not shown.
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

// Handler answers a scrape. Whatever cannot be read is left out; the rest is
// shown all the same.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError,
		ErrorLog:      slog.NewLogLogger(m.log.Handler(), slog.LevelWarn),
	})
}
