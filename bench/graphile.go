package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead/internal/bench"
)

// graphileDir has the programs that use graphile-worker, and its packages.
const graphileDir = "graphile"

// graphileOptions are options of graphile-worker, by their names there. What is
// left out has its default.
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

// tunedGraphile takes many jobs at a time and completes together what ended
// together: the set-up with which its documentation measures, but for a local
// queue of 500, which took twice the CPU time of the server in a drain. A second
// process of workers took a quarter more CPU time per job.
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

// defaultGraphile is one job at a time.
func defaultGraphile() graphileOptions { return graphileOptions{MaxPoolSize: 10} }

// graphileSystem is graphile-worker on PostgreSQL. Jobs are stored by one
// process of Node.js and run by another, because a process uses one core. Both
// are ready before something is measured.
type graphileSystem struct {
	caller, worker *nodeProcess

	mu      sync.Mutex
	last    int                // the id of the newest batch
	pending map[int]chan error // batches that are not durable yet, by id
	gone    error              // why there is no caller any more
	ended   chan struct{}      // closed when the caller's output has ended
}

// graphileSettings is the first line that a process reads.
type graphileSettings struct {
	URL     string          `json:"url"`
	Options graphileOptions `json:"options"`
	Starts  bool            `json:"starts"` // whether starts of jobs are reported
}

// graphileBatch is a further line for the caller.
type graphileBatch struct {
	ID   int          `json:"id"`
	Jobs []bench.Args `json:"jobs"`
}

// graphileReport is a line from a process.
type graphileReport struct {
	Ready  bool   `json:"ready"`
	Stored int    `json:"stored"` // the id of a batch
	Error  string `json:"error"`  // why it was not stored
	Ended  int    `json:"ended"`  // how many jobs have been completed
	Waited *int64 `json:"waited"` // microseconds; a handler started
}

func openGraphile(ctx context.Context, url, workload string, options graphileOptions) (_ *graphileSystem, err error) {
	settings := graphileSettings{URL: url, Options: options, Starts: workload == bench.Latency}
	s := &graphileSystem{pending: map[int]chan error{}, ended: make(chan struct{})}
	// The caller is first: it makes the schema.
	if s.caller, err = startNode(ctx, "caller.mjs", settings); err != nil {
		return nil, err
	}
	go s.awaitStored()
	if s.worker, err = startNode(ctx, "worker.mjs", settings); err != nil {
		return nil, errors.Join(err, s.closeCaller())
	}
	return s, nil
}

// Enqueue has the caller's process store the batch.
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

// awaitStored answers batches until the caller's process ends.
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

// Work has the worker's process work until ctx ends.
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
