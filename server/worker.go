package server

import (
	"context"
	"time"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/server/internal/workers"
)

// Workers implements the WorkerService, which connects remote workers to the store.
type Workers struct{ service *workers.Service }

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

// BeatWorker extends a worker's lease and returns the jobs that the worker must stop.
func (s *Workers) BeatWorker(ctx context.Context, in *fairleadv1.BeatWorkerRequest) (*fairleadv1.BeatWorkerResponse, error) {
	return s.service.BeatWorker(ctx, in)
}

// JoinWorker registers a worker.
func (s *Workers) JoinWorker(ctx context.Context, in *fairleadv1.JoinWorkerRequest) (*fairleadv1.JoinWorkerResponse, error) {
	return s.service.JoinWorker(ctx, in)
}

// LeaseJobs leases jobs to a worker. If no jobs are ready, it waits.
func (s *Workers) LeaseJobs(ctx context.Context, in *fairleadv1.LeaseJobsRequest) (*fairleadv1.LeaseJobsResponse, error) {
	return s.service.LeaseJobs(ctx, in)
}

// LeaveWorker ends a worker's lease. Jobs that the worker still holds are taken back, even
// if they are half done. A worker that calls LeaveWorker is evidently alive, and therefore
// did not crash, even if it has lost its lease.
func (s *Workers) LeaveWorker(ctx context.Context, in *fairleadv1.LeaveWorkerRequest) (*fairleadv1.LeaveWorkerResponse, error) {
	return s.service.LeaveWorker(ctx, in)
}

// ListLeases returns the jobs leased to a worker.
func (s *Workers) ListLeases(ctx context.Context, in *fairleadv1.ListLeasesRequest) (*fairleadv1.ListLeasesResponse, error) {
	return s.service.ListLeases(ctx, in)
}

// ListRetries returns a shard's failed items that wait for a retry.
func (s *Workers) ListRetries(ctx context.Context, in *fairleadv1.ListRetriesRequest) (*fairleadv1.ListRetriesResponse, error) {
	return s.service.ListRetries(ctx, in)
}

// ListShardItems returns items from the list that is stored with a shard's sweep.
func (s *Workers) ListShardItems(ctx context.Context, in *fairleadv1.ListShardItemsRequest) (*fairleadv1.ListShardItemsResponse, error) {
	return s.service.ListShardItems(ctx, in)
}

// LoadShard returns the shard that a job processes. If an earlier run had begun the shard,
// and the running sweep has a BeforeRun gate, LoadShard notifies the business system.
func (s *Workers) LoadShard(ctx context.Context, in *fairleadv1.LoadShardRequest) (*fairleadv1.LoadShardResponse, error) {
	return s.service.LoadShard(ctx, in)
}

// NoteItems stores a worker's log lines about items.
func (s *Workers) NoteItems(ctx context.Context, in *fairleadv1.NoteItemsRequest) (*fairleadv1.NoteItemsResponse, error) {
	return s.service.NoteItems(ctx, in)
}

// SaveProgress stores the progress that a worker reports for a running job.
func (s *Workers) SaveProgress(ctx context.Context, in *fairleadv1.SaveProgressRequest) (*fairleadv1.SaveProgressResponse, error) {
	return s.service.SaveProgress(ctx, in)
}

// SaveShard stores a worker's progress on a shard.
func (s *Workers) SaveShard(ctx context.Context, in *fairleadv1.SaveShardRequest) (*fairleadv1.SaveShardResponse, error) {
	return s.service.SaveShard(ctx, in)
}

// SettleJobs ends runs with the results that their worker reports.
func (s *Workers) SettleJobs(ctx context.Context, in *fairleadv1.SettleJobsRequest) (*fairleadv1.SettleJobsResponse, error) {
	return s.service.SettleJobs(ctx, in)
}

// StreamJobs leases jobs to a worker whenever the worker has free slots. The stream ends
// when the worker disconnects or loses its lease, or the program shuts down.
func (s *Workers) StreamJobs(ctx context.Context, in *fairleadv1.StreamJobsRequest, send func(*fairleadv1.Job) error) error {
	return s.service.StreamJobs(ctx, in, send)
}

// WatchWorker sends a hint to a worker whenever there may be something new for it.
func (s *Workers) WatchWorker(ctx context.Context, in *fairleadv1.WatchWorkerRequest, send func(*fairleadv1.WorkerNews) error) error {
	return s.service.WatchWorker(ctx, in, send)
}
