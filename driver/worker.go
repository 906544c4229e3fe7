package driver

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
)

// A Worker provides the operations that a node performs on itself and on the jobs that it
// runs.
type Worker interface {
	// Join registers a node and grants it a lease. Node IDs grow and are never reused. A node
	// that joins as Draining stays so until Drain changes it.
	Join(ctx context.Context, node fairlead.Node, lease time.Duration) (fairlead.NodeID, error)
	// Beat extends the lease of a live node, starting at the time in the answer, and stores
	// the values that the node reports. It returns ErrLeaseLost if the node is unknown, was
	// marked dead, or has an expired lease; the process must then join again as a new node.
	Beat(ctx context.Context, beat Beat) (BeatAnswer, error)
	// Leave ends the node's lease immediately; jobs that the node still holds can be reaped.
	// Repeated calls are allowed.
	Leave(ctx context.Context, node fairlead.NodeID) error

	// Claim leases ready jobs to a live node: the first ones by priority, StartBy and ID of
	// those that are committed, unlocked, in scope, not paused and within their limits (see
	// Governor). Tenants with fewer running jobs than their MinRunning go first, up to that
	// number. Under a Limit with OrderFair, tenants with jobs of the same priority share
	// starts by Weight, and the children of a parent tenant share the parent's part; StartBy
	// and ID order only the jobs of one tenant. Unused shares go to the other tenants and are
	// not saved up.
	//
	// A claim does not take capacity that limits leave to an earlier job, or to a tenant below
	// its minimum, if only other live, non-draining nodes with free slots can run that job.
	// Each claimed job gets the next attempt number and a fence larger than all its earlier
	// ones. Crash suspects (see SoloAfter) are claimed only if the claim is Solo. Claim
	// returns ErrLeaseLost if the node has no live lease. It may overlook jobs that another
	// process made ready until the wake arrives, for about a second at most.
	Claim(ctx context.Context, claim Claim) ([]*fairlead.Job, error)
	// Settle moves running jobs according to the decisions of their handlers, each under its
	// fence. The result has one entry per settlement, in the same order. A lost lease is
	// reported in its entry, never as an error of the call. A settlement whose answer was lost
	// can be repeated.
	//
	// A job that Reap has taken from a dead node is lost to that node, even if the job has
	// ended. A job that has succeeded is lost to a settlement with any other end: a handler
	// that completed its job in a Tx may fail afterwards. A job whose rows are locked by a
	// caller's transaction is answered with SettledHeld, after a short wait at most, and does
	// not delay the other settlements; a database with a single writer waits instead. If a
	// move is unknown, Settle returns ErrInvalid and settles none of the jobs.
	Settle(ctx context.Context, settlements []fairlead.Settlement) ([]fairlead.Settled, error)
	// Save stores progress and memo of a running job under its fence, and resets its crash
	// count. It returns ErrLeaseLost if the fence no longer matches, and ErrUnavailable if a
	// caller's transaction has locked the job.
	Save(ctx context.Context, save fairlead.Save) error
	// Report adds to the counts of started jobs, which Usage reads. Names must be distinct.
	// Counts older than UsageWindow are deleted.
	Report(ctx context.Context, starts []Starts) error
	// Held returns the jobs that are leased to the node.
	Held(ctx context.Context, node fairlead.NodeID) ([]Held, error)

	// Listen calls wake whenever there may be something new for the scope, until ctx ends;
	// then it returns nil. The first wake is WakeListening: changes before it went unnoticed.
	// A wake is a hint: it may be lost or unnecessary. Polling catches whatever a lost wake
	// missed.
	Listen(ctx context.Context, scope *Scope, wake func(Wake)) error
}

// A Scope selects the ready jobs that a node may claim. It must not change after its first
// use.
type Scope struct {
	Queues []string // nil = all queues except those in Except
	Except []string
	Kinds  []string // kinds that the node handles; other nodes run the rest
	// Tenants whose jobs the node may claim; nil = all.
	Tenants []string
}

// Claim contains the parameters of Worker.Claim.
type Claim struct {
	Node  fairlead.NodeID
	Scope *Scope
	Max   int
	Rooms map[string]int // kind → limit for this kind; other kinds are limited only by Max
	Solo  bool           // claim only crash suspects
	// Bytes limits the total size of the documents (Args, Memo and Progress) of all jobs; 0 =
	// unlimited. Once the limit is reached, further jobs are returned without their documents
	// and marked as Bare. The first job always includes its own.
	Bytes int
}

// SoloAfter is the number of crashes after which a ready job is treated as a suspect. A node
// runs at most one suspect at a time. This identifies a job that crashes its node, and
// clears jobs that were merely running at the same time.
const SoloAfter = 3

// Held is a lease on one job.
type Held struct {
	ID    int64
	Fence int64
}

// A Wake is the type of change that a listener is notified about.
type Wake int

// Types of wakes.
const (
	WakeWork      Wake = iota // jobs became ready
	WakeLater                 // jobs were scheduled; the next one may be due earlier than expected
	WakeCancel                // cancellation of a running job, or draining of a node, was requested
	WakeRoom                  // jobs freed slots of limits that other jobs may wait for
	WakeListening             // wakes are received from now on; earlier ones may have been missed
)
