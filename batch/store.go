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
// A batch's tasks are stored in chunks. When the batch releases a task, the task becomes a
// job under its own ID. From then on it is a job like any other: the code that runs jobs
// knows nothing about batches.
//
// A process that acts on a batch takes the batch's lock, reads which jobs have ended,
// records these ends in their chunks and counts them in the batch, all in one transaction.
// Each end is therefore counted exactly once, even if several processes read it, and no end
// is lost if a node fails.
type Store interface {
	// CreateBatch stores a batch without tasks and with an empty ledger, and returns it
	// with its ID and CreatedAt. The caller has passed it through Normalize.
	CreateBatch(ctx context.Context, batch Batch) (Batch, error)
	// AddChunks stores chunks of a batch with their tasks, all or none, and sets First of
	// each: their IDs are reserved and never used for anything else. The caller chooses
	// the numbers. AddChunks returns ErrConflict if the batch already has a chunk with one
	// of the numbers, and ErrNotFound for an unknown batch.
	AddChunks(ctx context.Context, batch int64, chunks []Chunk) error
	// DropChunks removes the chunks of a pass that never began.
	DropChunks(ctx context.Context, batch int64, pass int) error
	// Conduct calls act with a batch under its lock. If act returns nil, its actions and
	// its changes to the batch are stored, except that ID, Name, Type, Queue, Tenant,
	// Creator and CreatedAt stay as they are. Conduct then wakes nodes that can run the
	// enqueued jobs. If act returns an error, nothing is stored. act must use the store
	// only through the Tx, and may be called again if the transaction has to be repeated.
	//
	// If another caller acts on the batch, Conduct waits for it if wait is set; otherwise
	// it returns false immediately. Conduct returns ErrNotFound for an unknown batch, and
	// the error of act.
	Conduct(ctx context.Context, id int64, wait bool, act func(ctx context.Context, batch *Record, tx Tx) error) (bool, error)
	// DeleteBatch removes a batch with its chunks. The jobs created for its tasks stay
	// until they are deleted or pruned. It returns ErrConflict unless the batch has
	// completed, and ErrNotFound for an unknown batch.
	DeleteBatch(ctx context.Context, id int64) error
	// Batches returns the matching batches, newest (largest ID) first. The count of
	// running tasks is current, or taken from Seen until that is SeenFor old. All other
	// counts are those of the last time a process acted on the batch.
	Batches(ctx context.Context, filter Filter) ([]Record, error)
	// Chunks returns the matching chunks of a batch, in the order of their numbers.
	Chunks(ctx context.Context, batch int64, filter ChunkFilter) ([]Chunk, error)

	// FindPage returns a page of the matching jobs, newest (largest ID) first.
	FindPage(ctx context.Context, filter fairlead.Filter) (fairlead.Page, error)
	// Nodes lists the live nodes, and dead ones that are still on record.
	Nodes(ctx context.Context) ([]fairlead.Node, error)
	// Explain reports why a job does not run, or how its run is going. It returns
	// ErrNotFound for an unknown job.
	Explain(ctx context.Context, id int64) (fairlead.Explanation, error)
	// Now returns the time of the database's clock.
	Now(ctx context.Context) (time.Time, error)
}

// Tx gives access to a batch while its lock is held.
type Tx interface {
	// Now returns the time of the database's clock, read under the lock.
	Now() time.Time
	// Losses returns the moments at which the database may have lost commits, oldest
	// first.
	Losses() []Loss
	// Chunks returns the matching chunks of the batch, in the order of their numbers.
	Chunks(ctx context.Context, filter ChunkFilter) ([]Chunk, error)
	// SaveChunks stores Held, Out and the marks of chunks.
	SaveChunks(ctx context.Context, chunks []Chunk) error
	// Ends returns the final jobs in a range of IDs, in order. For a chunk that Chunks has
	// just returned, it may omit jobs whose marks already say that they have ended.
	Ends(ctx context.Context, first, last int64) ([]TaskEnd, error)
	// Known returns the IDs in a range that belong to jobs, in order. Jobs of tasks are
	// neither pruned nor deleted before their batch has counted them.
	Known(ctx context.Context, first, last int64) ([]int64, error)
	// Running returns the number of jobs in a range of IDs that run or wait for a
	// callback.
	Running(ctx context.Context, first, last int64) (int, error)
	// Enqueue stores jobs under the IDs that they have, which AddChunks reserved. They
	// have no Key and no ConcurrencyKey. Their tenant's MaxPending does not apply.
	Enqueue(ctx context.Context, jobs []*fairlead.Job) error
	// Recall removes the jobs in a range of IDs that are scheduled, ready or parked and
	// have never been started, with their entire history, and returns their IDs in order.
	// A job whose run was released after its handler had begun counts as started, although
	// its Attempt is zero. Recall leaves out jobs that another transaction is moving at
	// the same time.
	Recall(ctx context.Context, first, last int64) ([]int64, error)
}

// CallerTx is the caller's own transaction, created by a store's Tx method. Its changes
// become visible when the caller commits, and are discarded if the caller rolls back.
type CallerTx interface {
	// AddBatch stores a batch that is already open, with all its chunks, and returns it
	// with its ID and CreatedAt. Nodes start it after the commit.
	AddBatch(ctx context.Context, batch Record, chunks []Chunk) (Record, error)
	// Nodes lists the live nodes, and dead ones that are still on record.
	Nodes(ctx context.Context) ([]fairlead.Node, error)
}

// TaskEnd describes how a task's job ended.
type TaskEnd struct {
	ID         int64           // ID of the job
	State      fairlead.State  // final state of the job
	Fence      int64           // fence of the last run; zero if there was none
	Attempt    int             // number of the last attempt
	Failures   int             // number of failed attempts
	Crashes    int             // number of nodes that died while running it
	Reason     fairlead.Reason // reason for not succeeding
	FinishedAt time.Time       // time of the end
	Memo       json.RawMessage // last memo of the job
	Released   bool            // a run was released after its handler had begun, and its number was used again
}

// Filter selects batches. An empty field matches all batches. A batch whose tasks have not
// all been stored is selected only by its ID.
type Filter struct {
	IDs     []int64
	Names   []string
	Types   []string
	Queues  []string
	Tenants []string
	// Creators and Envs must match exactly; an empty string selects batches without a
	// value.
	Creators []string
	Envs     []string
	// States selects by state. Client.List compares the current states. A store compares
	// the states that batches had when a process last acted on them, in which running tasks
	// counted as pending: see Filter.Chosen.
	States []State
	Open   bool  // only batches that have not completed
	Below  int64 // only IDs below this one: the last ID of the previous page
	Limit  int   // maximum number of batches; zero means 100
}

// Chosen expands f.States for a store that filters by the state in which each batch was last
// saved. A batch that was pending then may have running tasks now, and a batch that was
// running may have none.
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

// ChunkFilter selects chunks. An empty field matches all chunks.
type ChunkFilter struct {
	Numbers []int
	After   int  // only larger numbers
	Held    bool // only chunks with tasks that are not released yet
	Out     bool // only chunks with released tasks that have not been counted as ended
	Kind    PassKind
	Tasks   bool // include their tasks
	Limit   int  // zero = unlimited
}
