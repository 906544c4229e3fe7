package bench

import (
	"context"
	"fmt"
	"time"
)

// The workloads.
const (
	Enqueue   = "enqueue"
	Drain     = "drain"
	Sustained = "sustained"
	Latency   = "latency"
	LongTx    = "longtx"
)

// Spec says what to measure. Zero means the workload's default.
type Spec struct {
	Workload string  `json:"workload"`
	Jobs     int     `json:"jobs,omitempty"`    // how many; of sustained and latency: at most
	Seconds  float64 `json:"seconds,omitempty"` // how long sustained and latency go on, at most
	Batch    int     `json:"batch,omitempty"`   // jobs per call
	Clients  int     `json:"clients,omitempty"` // concurrent callers; of enqueue: each with one job per call
}

// withDefaults fills in what the workload needs and ignores what it does not.
func (s Spec) withDefaults() Spec {
	switch s.Workload {
	case Enqueue:
		s.Jobs, s.Batch = orElse(s.Jobs, 100_000), orElse(s.Batch, 1000)
	case Drain:
		s.Jobs, s.Batch = orElse(s.Jobs, 100_000), orElse(s.Batch, 1000)
	case Sustained:
		s = s.bounded()
		s.Batch, s.Clients = orElse(s.Batch, 100), orElse(s.Clients, 2)
	case Latency:
		if s.Jobs == 0 && s.Seconds == 0 {
			s.Jobs = 500
		}
	case LongTx:
		if s.Jobs > 0 {
			s.Batch = orElse(s.Batch, 1000)
			break
		}
		s = s.bounded()
		s.Batch, s.Clients = orElse(s.Batch, 100), orElse(s.Clients, 2)
	}
	return s
}

func (s Spec) bounded() Spec {
	if s.Jobs == 0 && s.Seconds == 0 {
		s.Seconds = 10
	}
	return s
}

func (s Spec) duration() time.Duration { return time.Duration(s.Seconds * float64(time.Second)) }

func orElse(value, otherwise int) int {
	if value == 0 {
		return otherwise
	}
	return value
}

// Bench is one measurement.
type Bench struct {
	Spec      Spec
	Scheduler Scheduler
	Server    Server
	Progress  *Progress // nil for none
	// Client returns the CPU time so far of the processes that store and run the
	// jobs. nil if this process does both: children of it count when they have
	// ended.
	Client func() (time.Duration, error)
}

// Run measures.
func (b Bench) Run(ctx context.Context) (Result, error) {
	b.Spec = b.Spec.withDefaults()
	run, known := map[string]func(context.Context) (Result, error){
		Enqueue:   b.enqueue,
		Drain:     b.drain,
		Sustained: b.sustained,
		Latency:   b.latency,
		LongTx:    b.longTx,
	}[b.Spec.Workload]
	if !known {
		return Result{}, fmt.Errorf("unknown workload %q", b.Spec.Workload)
	}
	result, err := run(ctx)
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", b.Spec.Workload, err)
	}
	result.Workload, result.Store = b.Spec.Workload, b.Server.Name()
	return result, nil
}
