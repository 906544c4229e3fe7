package server

import (
	"time"

	"github.com/fairlead-io/fairlead/server/internal/workers"
)

// Workers implements the WorkerService, which connects remote workers to the store.
type Workers struct{ *workerService }

type workerService = workers.Service

// WorkerOptions configures remote workers. A zero field has the same default as for a node.
type WorkerOptions struct {
	Poll    time.Duration // interval at which a waiting call looks for work without a wake; default 1s
	Beat    time.Duration // interval between heartbeats of workers; default 2s
	Lease   time.Duration // lease of workers that do not request one; default 10s
	Grace   time.Duration // time a job may continue after a stop was requested; default 5s
	Timeout time.Duration // timeout of attempts without a timeout of the job or worker; default 1h
}

// NewWorkers returns a WorkerService backed by store. When stopping is closed, all waiting
// calls end.
func NewWorkers(store Store, options WorkerOptions, stopping <-chan struct{}) *Workers {
	return &Workers{workers.New(store, workers.Options(options), stopping)}
}
