package sweep

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
)

// Store keeps sweeps.
//
// How far a shard has come is written by its run, under the fence of its job, and by
// nothing else: a run that has lost its lease changes nothing any more, and marks
// never move backwards. What becomes of a sweep is decided under its lock.
type Store interface {
	// PutSweep creates the sweep if its Version is zero, else it replaces what people
	// say of the one of that ID and Version, and returns it as stored. How it stands
	// counts only if it is created; its ledger is empty then. It has been through Normalize. It fails with
	// ErrConflict if another sweep has the name, this one has another Version by now or
	// CheckChange refuses it, and with ErrNotFound.
	PutSweep(ctx context.Context, sweep Sweep) (Sweep, error)
	// DeleteSweep removes a sweep with all that is known of it. It fails with
	// ErrConflict unless it is created, stopped or finished, and with ErrNotFound.
	DeleteSweep(ctx context.Context, id int64) error
	// Sweeps returns the sweeps that match, newest (largest ID) first, each with the
	// sum of what its shards have stored.
	Sweeps(ctx context.Context, filter Filter) ([]Record, error)
	// Shards returns the shards of a sweep, in order.
	Shards(ctx context.Context, sweep int64) ([]Shard, error)

	// SweepItems returns items of the list that is stored with a sweep, from an index on, a
	// few hundred or thousand at a time: none only if the list has ended there. What
	// PutSweep stores of a list is stored once, and again only if its Digest is another.
	SweepItems(ctx context.Context, sweep, from int64) ([]string, error)

	// Steer calls act with a sweep, without the sum of its shards, under its lock.
	// Unless act returns an error, what it did and what it changed of how the sweep
	// stands, of its ledger and of its Data, is kept; else nothing is. If it changed Data, Version
	// grows.
	// Then nodes that may run enqueued jobs are woken. act must not use the store but
	// through the Tx, and may be called again if the transaction has to be
	// repeated. If others steer the sweep it waits for them, or, unless wait is set,
	// returns false at once. It fails with ErrNotFound, and with what act returns.
	Steer(ctx context.Context, id int64, wait bool, act func(ctx context.Context, sweep *Record, tx Tx) error) (bool, error)

	// Checkpoint stores how far the run of a shard has come and answers with what it
	// is to do from now on. It fails with ErrLeaseLost unless the job runs under the
	// fence and is that of the shard. It does not wait for a process that steers the sweep.
	// The first of a run forgets the shares of the run before. A mark that is smaller
	// than the stored one is refused with ErrConflict. A sweep that is not running
	// answers with Stop.
	//
	// Failed items are noted, one that is known is replaced and does not wait to be tried
	// again any more; a zero At becomes now. Redone ones are forgotten; if the shard has
	// Ended none of its items waits to be tried again. All of it is stored together or not
	// at all.
	Checkpoint(ctx context.Context, checkpoint Checkpoint) (Orders, error)

	// FailedItems lists items that failed for good, by index.
	FailedItems(ctx context.Context, filter ItemFilter) ([]FailedItem, error)

	// AddSweepLogs stores lines, all or none. It fails with ErrNotFound if there is no
	// such sweep.
	AddSweepLogs(ctx context.Context, logs []Log) error
	// SweepLogs lists lines, newest first.
	SweepLogs(ctx context.Context, filter LogFilter) ([]Log, error)
	// SweepEvents lists what happened to a sweep, newest first.
	SweepEvents(ctx context.Context, filter EventFilter) ([]Event, error)

	// Cancel ends a job that has not started, or asks a running one to stop.
	Cancel(ctx context.Context, id int64, reason string) error
	// Find returns the jobs that match, newest (largest ID) first.
	Find(ctx context.Context, filter fairlead.Filter) ([]*fairlead.Job, error)
	// Nodes lists the nodes that are alive and those not yet forgotten.
	Nodes(ctx context.Context) ([]fairlead.Node, error)
	// Explain says why a job does not run, or how it runs. It fails with ErrNotFound.
	Explain(ctx context.Context, id int64) (fairlead.Explanation, error)
	// Now is the database's clock.
	Now(ctx context.Context) (time.Time, error)
}

// Tx is what can be done with a sweep under its lock.
type Tx interface {
	// Now is the database's clock, read under the lock.
	Now() time.Time
	// Shards returns the shards of the sweep, in order, with the state of their jobs
	// in step: empty where there is none. A shard that had ended before its job did counts as
	// ended.
	Shards(ctx context.Context) ([]Shard, []fairlead.State, error)
	// Cut makes the shards anew, without jobs. Of what they have done all counts that a
	// later run needs: Number, From, To, Ended, Mark, Behind, Window, Pending, Done,
	// Abandoned, Again, Errors and Source. Failed items stay noted. It fails with
	// ErrConflict if one of the old has a job that is not final.
	Cut(ctx context.Context, shards []Shard) error
	// Forget forgets which items failed.
	Forget(ctx context.Context) error
	// Again lets failed items wait to be tried again: those with the indexes, or all if
	// there are none. Their shards have not Ended any more, have no job, and say how many
	// wait; one that had ended before its last item ends where it has come to. It returns
	// which of the indexes are not those of failed items.
	Again(ctx context.Context, indexes []int64) (unknown []int64, err error)
	// Grant stores Share of shards, and nothing else of them, for the run that has
	// stored what Shards returned last.
	Grant(ctx context.Context, shards []Shard) error
	// Employ enqueues a job for each of some shards, by their numbers, makes it theirs
	// and sets its ID. What the shard has stored stays. The jobs have been through
	// NormalizeJobs and have no keys; there are at most MaxShards of them. How many
	// jobs their tenant may have pending does not count.
	Employ(ctx context.Context, numbers []int, jobs []*fairlead.Job) error
	// Enqueue enqueues a few other jobs, which have been through NormalizeJobs and have
	// no keys, and sets their IDs. How many jobs their tenant may have pending does not
	// count.
	Enqueue(ctx context.Context, jobs []*fairlead.Job) error
	// Record adds to the history, now.
	Record(ctx context.Context, event Event) error
}

// CallerTx is the caller's own transaction, made by the Tx method of a store. What it does
// becomes visible when the caller commits, and never if the caller rolls back.
type CallerTx interface {
	// PutSweep is Store.PutSweep inside the transaction. A conflict leaves the transaction
	// as it was: the caller may go on.
	PutSweep(ctx context.Context, sweep Sweep) (Sweep, error)
	// Sweeps is Store.Sweeps, and sees what the transaction did.
	Sweeps(ctx context.Context, filter Filter) ([]Record, error)
}

// MaxShards is how many shards a sweep has at most.
const MaxShards = 1000

// Filter chooses sweeps. Empty fields choose all.
type Filter struct {
	IDs     []int64
	Names   []string
	States  []State
	Tenants []string
	Below   int64 // only IDs smaller than this: the last of the page before
	Limit   int   // zero means 100
}

// ItemFilter chooses failed items.
type ItemFilter struct {
	Sweep int64
	After int64 // only indexes larger than this, once From is set
	From  bool
	Below int64 // only indexes smaller than this, unless it is zero
	Again bool  // only those that wait to be tried again
	Limit int   // zero means 100
}

// LogFilter chooses lines.
type LogFilter struct {
	Sweep  int64
	Levels []string
	Index  *int64
	Below  int64 // only IDs smaller than this: the last of the page before
	Limit  int   // zero means 100
}

// EventFilter chooses what happened to a sweep.
type EventFilter struct {
	Sweep int64
	Below int64 // only IDs smaller than this: the last of the page before
	Limit int   // zero means 100
}
