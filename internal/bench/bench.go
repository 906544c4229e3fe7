package bench

import (
	"context"
	"fmt"
	"time"
)

// Workloads.
const (
	Enqueue   = "enqueue"
	Drain     = "drain"
	Sustained = "sustained"
	Latency   = "latency"
	LongTx    = "longtx"
)

// Spec configures a measurement. Zero fields have the workload's defaults.
type Spec struct {
	Workload string  `json:"workload"`
	Jobs     int     `json:"jobs,omitempty"`    // number of jobs; a maximum for sustained and latency
	Seconds  float64 `json:"seconds,omitempty"` // maximum duration of sustained and latency
	Batch    int     `json:"batch,omitempty"`   // jobs per call
	Clients  int     `json:"clients,omitempty"` // concurrent callers; for enqueue: each with one job per call
}

// withDefaults fills in the fields that the workload uses and clears the others.
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
	Progress  *Progress // nil = no display
	// Client returns the CPU time used so far by the processes that store and run the jobs.
	// Nil means that this process does both: its children count once they have ended.
	Client func() (time.Duration, error)
}

// Run performs the measurement.
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
