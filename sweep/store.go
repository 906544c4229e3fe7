package sweep

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
)

// Store keeps sweeps. Only a shard's run writes the shard's progress, under its job's fence.
// A run that has lost its lease can therefore change nothing more, and marks never move
// backwards. Decisions about a sweep are made under the sweep's lock.
type Store interface {
	// PutSweep creates the sweep if its Version is zero, and otherwise replaces the
	// definition of the stored sweep of that ID and Version. It returns the sweep as
	// stored. Its Status is used only if the sweep is created, with an empty ledger. The
	// caller has passed the sweep through Normalize. PutSweep returns ErrConflict if
	// another sweep has the name, if this one has another Version by now or if CheckChange
	// refuses it, and ErrNotFound if it does not exist.
	PutSweep(ctx context.Context, sweep Sweep) (Sweep, error)
	// DeleteSweep removes a sweep with its entire history. It returns ErrConflict unless
	// the sweep is created, stopped or finished, and ErrNotFound for an unknown sweep.
	DeleteSweep(ctx context.Context, id int64) error
	// Sweeps returns the matching sweeps, newest (largest ID) first, each with the sum of
	// the progress of its shards.
	Sweeps(ctx context.Context, filter Filter) ([]Record, error)
	// Shards returns the shards of a sweep, in order.
	Shards(ctx context.Context, sweep int64) ([]Shard, error)

	// SweepItems returns items of the list that is stored with a sweep, from an index on,
	// a few hundred or thousand at a time. The result is empty only at the end of the
	// list. PutSweep stores a list once, and again only if its Digest changes.
	SweepItems(ctx context.Context, sweep, from int64) ([]string, error)

	// Steer calls act with a sweep, without the sum of its shards, under its lock. If act
	// returns nil, its actions and its changes to the sweep's Status, ledger and Data are
	// stored. A change of Data increases Version. Steer then wakes nodes that can run
	// enqueued jobs. If act returns an error, nothing is stored. act must use the store
	// only through the Tx, and may be called again if the transaction has to be repeated.
	//
	// If another caller steers the sweep, Steer waits for it if wait is set; otherwise it
	// returns false immediately. Steer returns ErrNotFound for an unknown sweep, and the
	// error of act.
	Steer(ctx context.Context, id int64, wait bool, act func(ctx context.Context, sweep *Record, tx Tx) error) (bool, error)

	// Checkpoint stores the progress of a shard's run and returns the run's orders from
	// now on. It returns ErrLeaseLost unless the job runs under the fence and belongs to
	// the shard. It does not wait for a process that steers the sweep. The first
	// checkpoint of a run clears the shares of the previous run. Checkpoint returns
	// ErrConflict for a mark that is smaller than the stored one. If the sweep is not
	// running, the orders contain Stop.
	//
	// Failed items are recorded. A failed item that was recorded before is replaced and no
	// longer waits for a retry; a zero At becomes now. Redone items are removed from the
	// record. If the shard has Ended, none of its items waits for a retry any more. All of
	// this is stored together or not at all.
	Checkpoint(ctx context.Context, checkpoint Checkpoint) (Orders, error)

	// FailedItems lists items that failed for good, by index.
	FailedItems(ctx context.Context, filter ItemFilter) ([]FailedItem, error)

	// AddSweepLogs stores log lines, all or none. It returns ErrNotFound for an unknown
	// sweep.
	AddSweepLogs(ctx context.Context, logs []Log) error
	// SweepLogs lists log lines, newest first.
	SweepLogs(ctx context.Context, filter LogFilter) ([]Log, error)
	// SweepEvents lists the events of a sweep, newest first.
	SweepEvents(ctx context.Context, filter EventFilter) ([]Event, error)

	// Operate applies an operation to a job.
	Operate(ctx context.Context, id int64, operation fairlead.Operation) error
	// Find returns the matching jobs, newest (largest ID) first.
	Find(ctx context.Context, filter fairlead.Filter) ([]*fairlead.Job, error)
	// Nodes lists the live nodes, and dead ones that are still on record.
	Nodes(ctx context.Context) ([]fairlead.Node, error)
	// Explain reports why a job does not run, or how its run is going. It returns
	// ErrNotFound for an unknown job.
	Explain(ctx context.Context, id int64) (fairlead.Explanation, error)
	// Now returns the time of the database's clock.
	Now(ctx context.Context) (time.Time, error)
}

// Tx gives access to a sweep while its lock is held.
type Tx interface {
	// Now returns the time of the database's clock, read under the lock.
	Now() time.Time
	// Shards returns the shards of the sweep, in order, with the states of their jobs in
	// the same order: empty where there is no job. A shard that had ended before its job
	// did counts as ended.
	Shards(ctx context.Context) ([]Shard, []fairlead.State, error)
	// Cut replaces the shards with new ones, without jobs. Of their progress it stores the
	// fields that a later run needs: Number, From, To, Ended, Mark, Behind, Window,
	// Pending, Done, Abandoned, Again, Errors and Source. Failed items stay on record. Cut
	// returns ErrConflict if an old shard has a job that is not final.
	Cut(ctx context.Context, shards []Shard) error
	// Forget clears the list of failed items.
	Forget(ctx context.Context) error
	// Again marks failed items for a retry: those with the given indexes, or all if there
	// are none. Their shards lose Ended and their jobs, and count the items that wait; a
	// shard that had ended before its last item now ends at its current position. Again
	// returns the indexes that are not those of failed items.
	Again(ctx context.Context, indexes []int64) (unknown []int64, err error)
	// Grant stores only the Share of shards, for the run that stored what Shards returned
	// last.
	Grant(ctx context.Context, shards []Shard) error
	// Employ enqueues a job for each of the given shards, by their numbers, assigns the
	// job to the shard and sets its ID. The stored progress of the shard stays. The caller
	// has passed the jobs through NormalizeJobs; they have no keys, and there are at most
	// MaxShards of them. Their tenant's MaxPending does not apply.
	Employ(ctx context.Context, numbers []int, jobs []*fairlead.Job) error
	// Enqueue enqueues a few other jobs and sets their IDs. The caller has passed them
	// through NormalizeJobs, and they have no keys. Their tenant's MaxPending does not
	// apply.
	Enqueue(ctx context.Context, jobs []*fairlead.Job) error
	// Record adds an event with the current time to the history.
	Record(ctx context.Context, event Event) error
}

// CallerTx is the caller's own transaction, created by a store's Tx method. Its changes
// become visible when the caller commits, and are discarded if the caller rolls back.
type CallerTx interface {
	// PutSweep stores a sweep inside the transaction, like Store.PutSweep. An ErrConflict
	// leaves the transaction unchanged, and the caller may continue.
	PutSweep(ctx context.Context, sweep Sweep) (Sweep, error)
	// Sweeps lists sweeps like Store.Sweeps, including the transaction's own changes.
	Sweeps(ctx context.Context, filter Filter) ([]Record, error)
}

// MaxShards is the maximum number of shards in a sweep.
const MaxShards = 1000

// Filter selects sweeps. An empty field matches all sweeps.
type Filter struct {
	IDs     []int64
	Names   []string
	States  []State
	Tenants []string
	Below   int64 // only IDs below this one: the last ID of the previous page
	Limit   int   // maximum number of sweeps; zero means 100
}

// ItemFilter selects failed items.
type ItemFilter struct {
	Sweep int64
	After int64 // only indexes above this one, if From is set
	From  bool  // apply After
	Below int64 // only indexes below this one; zero means all
	Again bool  // only items that wait for a retry
	Limit int   // maximum number of items; zero means 100
}

// LogFilter selects log lines about items.
type LogFilter struct {
	Sweep  int64
	Levels []string // only these levels; nil means all
	Index  *int64   // only lines about this item; nil means all
	Below  int64    // only IDs below this one: the last ID of the previous page
	Limit  int      // maximum number of lines; zero means 100
}

// EventFilter selects a sweep's events.
type EventFilter struct {
	Sweep int64
	Below int64 // only IDs below this one: the last ID of the previous page
	Limit int   // maximum number of events; zero means 100
}
