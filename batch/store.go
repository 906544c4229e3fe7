package batch

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
)

// Store keeps batches.
//
// The tasks of a batch are kept in chunks. They become jobs when the batch
// releases them, under their own IDs; from then on they are jobs like all others, and nothing
// in a job's way knows of batches. A process that acts upon a batch sees under its lock
// which of its jobs have ended, notes that in their chunks and counts it in the batch,
// all in one transaction: each end is counted once, whichever process looks, however often,
// and none is lost with a node.
type Store interface {
	// CreateBatch stores a batch without tasks, with an empty ledger, and returns it with
	// its ID and CreatedAt. It has been through Normalize.
	CreateBatch(ctx context.Context, batch Batch) (Batch, error)
	// AddChunks stores chunks of a batch, all or none, with their tasks, and sets First
	// of each: their IDs are set aside, and are not given to anything else. Numbers
	// are the caller's choice. It fails with ErrConflict if the batch has a chunk with
	// one of the numbers, and with ErrNotFound.
	AddChunks(ctx context.Context, batch int64, chunks []Chunk) error
	// DropChunks removes the chunks of a pass that was never begun.
	DropChunks(ctx context.Context, batch int64, pass int) error
	// Conduct calls act with a batch under its lock. Unless act returns an error,
	// what it did and what it changed of the batch is kept, but for ID, Name, Type,
	// Queue, Tenant, Creator and CreatedAt, which stay as they are; else nothing is.
	// Then nodes that may run the enqueued jobs are woken. act must not use the store
	// but through the Tx, and may be called again if the transaction has to be
	// repeated. If others act upon the batch it waits for them, or, unless wait is
	// set, returns false at once. It fails with ErrNotFound, and with what act
	// returns.
	Conduct(ctx context.Context, id int64, wait bool, act func(ctx context.Context, batch *Record, tx Tx) error) (bool, error)
	// DeleteBatch removes a batch with its chunks. The jobs that its tasks became stay
	// until they are deleted or pruned. It fails with ErrConflict unless the batch has
	// completed, and with ErrNotFound.
	DeleteBatch(ctx context.Context, id int64) error
	// Batches returns the batches that match, newest (largest ID) first. Those of
	// their tasks that run are counted as running, or, until Seen is SeenFor old, as
	// many as it says: all else is as of when the batch was last acted upon.
	Batches(ctx context.Context, filter Filter) ([]Record, error)
	// Chunks returns chunks of a batch, in the order of their numbers.
	Chunks(ctx context.Context, batch int64, filter ChunkFilter) ([]Chunk, error)

	// FindPage returns a page of the jobs that match, newest (largest ID) first.
	FindPage(ctx context.Context, filter fairlead.Filter) (fairlead.Page, error)
	// Nodes lists the nodes that are alive and those not yet forgotten.
	Nodes(ctx context.Context) ([]fairlead.Node, error)
	// Explain says why a job does not run, or how it runs. It fails with ErrNotFound.
	Explain(ctx context.Context, id int64) (fairlead.Explanation, error)
	// Now is the database's clock.
	Now(ctx context.Context) (time.Time, error)
}

// Tx is what can be done with a batch under its lock.
type Tx interface {
	// Now is the database's clock, read under the lock.
	Now() time.Time
	// Losses returns the moments at which the database may have lost commits, oldest
	// first.
	Losses() []Loss
	// Chunks returns chunks of the batch, in the order of their numbers.
	Chunks(ctx context.Context, filter ChunkFilter) ([]Chunk, error)
	// SaveChunks keeps Held, Out and the marks of chunks.
	SaveChunks(ctx context.Context, chunks []Chunk) error
	// Ends returns which jobs of a range of IDs are final, in order. Of a chunk that Chunks
	// has just returned it may leave out those whose marks say so already.
	Ends(ctx context.Context, first, last int64) ([]TaskEnd, error)
	// Known returns which IDs of a range are those of jobs, in order. Jobs of tasks are
	// neither pruned nor deleted before their batch has counted them.
	Known(ctx context.Context, first, last int64) ([]int64, error)
	// Running returns how many jobs of a range of IDs run, or wait for a callback.
	Running(ctx context.Context, first, last int64) (int, error)
	// Enqueue makes jobs under the IDs that they have, which were set aside by
	// AddChunks. They have no Key and no ConcurrencyKey. How many jobs their tenant
	// may have pending does not count.
	Enqueue(ctx context.Context, jobs []*fairlead.Job) error
	// Recall removes the jobs of a range of IDs that are scheduled, ready or parked and
	// have never been started, with all that is known of them, and returns which these
	// were, in order. A job whose run was released after its handler had begun was
	// started, though its Attempt is zero. Jobs that another transaction is just about
	// to move are left.
	Recall(ctx context.Context, first, last int64) ([]int64, error)
}

// CallerTx is the caller's own transaction, made by the Tx method of a store. What it does
// becomes visible when the caller commits, and never if the caller rolls back.
type CallerTx interface {
	// AddBatch stores a batch that is opened, with all its chunks, and returns it with its
	// ID and CreatedAt. Nodes begin with it after the commit.
	AddBatch(ctx context.Context, batch Record, chunks []Chunk) (Record, error)
	// Nodes lists the nodes that are alive and those not yet forgotten.
	Nodes(ctx context.Context) ([]fairlead.Node, error)
}

// TaskEnd is the end of a job.
type TaskEnd struct {
	ID         int64
	State      fairlead.State
	Fence      int64 // of the last run; zero: there was none
	Attempt    int   // the last one
	Failures   int   // attempts that failed
	Crashes    int
	Reason     fairlead.Reason
	FinishedAt time.Time
	Memo       json.RawMessage
	Released   bool // a run was released after its handler had begun: its number was used again
}

// Filter chooses batches. Empty fields choose all. Those whose tasks are not
// all stored yet are chosen only by their ID.
type Filter struct {
	IDs     []int64
	Names   []string
	Types   []string
	Queues  []string
	Tenants []string
	// Creators and Envs are compared as they are; an empty one chooses batches without.
	Creators []string
	Envs     []string
	// States of batches. A store chooses by how they were last acted upon, when tasks that
	// run counted as pending: see Filter.Chosen. Client.List chooses exactly.
	States []State
	Open   bool  // only those that have not completed
	Below  int64 // only IDs smaller than this: the last of the page before
	Limit  int   // zero means 100
}

// Chosen are the states as a store compares them with how batches were last acted upon:
// in a batch that is pending then, tasks may run by now, and in one that was running none
// may.
func (f Filter) Chosen() []State {
	var chosen []State
	for _, state := range f.States {
		switch state {
		case Pending, Running:
			chosen = append(chosen, Pending, Running)
		case RollbackPending, RollbackRunning:
			chosen = append(chosen, RollbackPending, RollbackRunning)
		default:
			chosen = append(chosen, state)
		}
	}
	slices.Sort(chosen)
	return slices.Compact(chosen)
}

// ChunkFilter chooses chunks. Empty fields choose all.
type ChunkFilter struct {
	Numbers []int
	After   int  // only larger numbers
	Held    bool // only chunks with tasks that were not released yet
	Out     bool // only chunks with tasks that were, and have not been seen to have ended
	Kind    PassKind
	Tasks   bool // read their tasks too
	Limit   int  // zero: all
}
