package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead/internal/bench"
)

// graphileDir contains the programs that use graphile-worker, and its packages.
const graphileDir = "graphile"

// graphileOptions contains options of graphile-worker, with its own names. Omitted options
// have their defaults.
type graphileOptions struct {
	ConcurrentJobs        int                 `json:"concurrentJobs,omitempty"`
	MaxPoolSize           int                 `json:"maxPoolSize"`
	LocalQueue            *graphileLocalQueue `json:"localQueue,omitempty"`
	CompleteJobBatchDelay *int                `json:"completeJobBatchDelay,omitempty"`
	FailJobBatchDelay     *int                `json:"failJobBatchDelay,omitempty"`
}

type graphileLocalQueue struct {
	Size int `json:"size"`
}

// tunedGraphile fetches many jobs at a time and completes jobs in batches. This is the
// configuration in which its documentation measures, except for a local queue of 500, which
// doubled the CPU time of the server in a drain. A second worker process took a quarter
// more CPU time per job.
func tunedGraphile() graphileOptions {
	atOnce := 0
	return graphileOptions{
		ConcurrentJobs:        24,
		MaxPoolSize:           25,
		LocalQueue:            &graphileLocalQueue{Size: 5000},
		CompleteJobBatchDelay: &atOnce,
		FailJobBatchDelay:     &atOnce,
	}
}

// defaultGraphile runs one job at a time.
func defaultGraphile() graphileOptions { return graphileOptions{MaxPoolSize: 10} }

// graphileSystem is graphile-worker on PostgreSQL. One Node.js process stores jobs and
// another runs them, because a process uses one core. Both are ready before the measurement
// starts.
type graphileSystem struct {
	caller, worker *nodeProcess

	mu      sync.Mutex
	last    int                // ID of the newest batch
	pending map[int]chan error // batches that are not durable yet, by ID
	gone    error              // error with which the caller ended
	ended   chan struct{}      // closed when the caller's output has ended
}

// graphileSettings is the first line of input of a process.
type graphileSettings struct {
	URL     string          `json:"url"`
	Options graphileOptions `json:"options"`
	Starts  bool            `json:"starts"` // whether the process reports starts of jobs
}

// graphileBatch is a further line of input of the caller.
type graphileBatch struct {
	ID   int          `json:"id"`
	Jobs []bench.Args `json:"jobs"`
}

// graphileReport is a line of output of a process.
type graphileReport struct {
	Ready  bool   `json:"ready"`
	Stored int    `json:"stored"` // ID of a batch
	Error  string `json:"error"`  // error on storing the batch
	Ended  int    `json:"ended"`  // number of completed jobs
	Waited *int64 `json:"waited"` // microseconds from enqueuing to the start of a handler
}

func openGraphile(ctx context.Context, url, workload string, options graphileOptions) (_ *graphileSystem, err error) {
	settings := graphileSettings{URL: url, Options: options, Starts: workload == bench.Latency}
	s := &graphileSystem{pending: map[int]chan error{}, ended: make(chan struct{})}
	// Start the caller first, because it creates the schema.
	if s.caller, err = startNode(ctx, "caller.mjs", settings); err != nil {
		return nil, err
	}
	go s.awaitStored()
	if s.worker, err = startNode(ctx, "worker.mjs", settings); err != nil {
		return nil, errors.Join(err, s.closeCaller())
	}
	return s, nil
}

// Enqueue makes the caller's process store the batch.
func (s *graphileSystem) Enqueue(ctx context.Context, batch []bench.Args) error {
	id, stored, err := s.register()
	if err != nil {
		return err
	}
	if err := s.caller.send(graphileBatch{ID: id, Jobs: batch}); err != nil {
		return err
	}
	select {
	case err := <-stored:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *graphileSystem) register() (int, <-chan error, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone != nil {
		return 0, nil, s.gone
	}
	s.last++
	stored := make(chan error, 1)
	s.pending[s.last] = stored
	return s.last, stored, nil
}

// awaitStored reports stored batches until the caller's process ends.
func (s *graphileSystem) awaitStored() {
	defer close(s.ended)
	err := s.caller.follow(func(r graphileReport) {
		s.mu.Lock()
		defer s.mu.Unlock()
		stored := s.pending[r.Stored]
		delete(s.pending, r.Stored)
		if r.Error != "" {
			stored <- errors.New(r.Error)
			return
		}
		stored <- nil
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = errors.Join(errors.New("the process that stores jobs has ended"), err)
	for _, stored := range s.pending {
		stored <- s.gone
	}
}

// Work makes the worker's process run jobs until ctx ends.
func (s *graphileSystem) Work(ctx context.Context, events bench.Events) error {
	end := context.AfterFunc(ctx, func() { s.worker.input.Close() })
	defer end()
	sendErr := s.worker.send("work")
	readErr := s.worker.follow(func(r graphileReport) {
		if r.Waited != nil {
			events.Started(time.Duration(*r.Waited) * time.Microsecond)
		}
		for range r.Ended {
			events.Ended()
		}
	})
	return errors.Join(s.worker.wait(), sendErr, readErr)
}

// Close ends both processes.
func (s *graphileSystem) Close() error {
	s.worker.input.Close()
	return errors.Join(s.worker.wait(), s.closeCaller())
}

func (s *graphileSystem) closeCaller() error {
	s.caller.input.Close()
	<-s.ended
	return s.caller.wait()
}
