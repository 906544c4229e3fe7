package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/engine"
)

// A Node provides a node's metrics. *engine.Engine implements it.
type Node interface {
	// Stats returns values from memory, without blocking.
	Stats() engine.Stats
}

// Watch exports the node's current activity and the store's contents. It must be called only
// once.
func (m *Metrics) Watch(node Node, store driver.Store) {
	m.registry.MustRegister(nodeGauges(node)...)
	m.registry.MustRegister(newCensus(store, m.log))
}

func nodeGauges(node Node) (gauges []prometheus.Collector) {
	for _, gauge := range []struct {
		name, help string
		value      func(s engine.Stats) float64
	}{
		{"fairlead_slots", "Number of jobs that this node can run at the same time.", func(s engine.Stats) float64 { return float64(s.Slots) }},
		{"fairlead_busy_slots", "Slots in use.", func(s engine.Stats) float64 { return float64(s.Busy) }},
		{"fairlead_slot_usage_ratio", "Share of the slots in use, from 0 to 1.", func(s engine.Stats) float64 { return ratio(s.Busy, s.Slots) }},
		{"fairlead_queued_jobs", "Jobs that this node has claimed but not started.", func(s engine.Stats) float64 { return float64(s.Queued) }},
		{"fairlead_queue_usage_ratio", "Jobs claimed but not started, as a share of --queue-size, from 0 to 1.", func(s engine.Stats) float64 { return ratio(s.Queued, s.Capacity) }},
		{"fairlead_unsaved_runs", "Attempts that have ended but whose result has not been written yet.", func(s engine.Stats) float64 { return float64(s.Unsaved) }},
		{"fairlead_stuck_handlers", "Handlers that are still running after their context ended. Each occupies a slot for up to ten minutes.", func(s engine.Stats) float64 { return float64(s.Stuck) }},
		{"fairlead_node_up", "1 if this node has a confirmed lease, otherwise 0.", func(s engine.Stats) float64 { return truth(s.Alive) }},
	} {
		gauges = append(gauges, prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: gauge.name, Help: gauge.help}, func() float64 { return gauge.value(node.Stats()) }))
	}
	return gauges
}

func ratio(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

func truth(so bool) float64 {
	if so {
		return 1
	}
	return 0
}
