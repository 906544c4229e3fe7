package driver

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
)

// Worker is what a node does with the jobs it runs.
type Worker interface {
	// Join registers a node and grants it a lease. IDs grow and are never reused. A
	// node that joins as Draining stays so until Drain changes it.
	Join(ctx context.Context, node fairlead.Node, lease time.Duration) (fairlead.NodeID, error)
	// Beat extends the lease of a live node, from the moment in the answer, and records
	// what it reports. It fails with ErrLeaseLost if the node is unknown, was declared
	// dead, or its lease has ended: the process then starts over as a new node.
	Beat(ctx context.Context, beat Beat) (BeatAnswer, error)
	// Leave ends the node's lease at once; jobs that it still holds can be reaped.
	// Leaving twice is fine.
	Leave(ctx context.Context, node fairlead.NodeID) error

	// Claim leases ready jobs to a live node: the first by priority, StartBy and ID of
	// those that are committed, unlocked, served by the scope, not paused and within
	// their limits (see Governor). Tenants with fewer jobs than their MinRunning go
	// first, up to that number. Where Limit.Order is OrderFair, tenants with jobs of the
	// same priority share starts by Weight, the children of a parent what the parent
	// gets; only the jobs of one tenant go by StartBy and ID. A share that is not used
	// goes to the others, and is not saved up. A claim does not take what limits leave to an earlier
	// job, or to a tenant below its minimum, if only other live nodes with free slots
	// that do not drain can run that job. Each claimed job gets the next attempt number
	// and a fence larger than any it had before. Crash suspects (see SoloAfter) are
	// claimed only if the claim is Solo. A node without a live lease gets ErrLeaseLost.
	// Jobs that another process made ready may be overlooked until its wake arrives,
	// for about a second at most.
	Claim(ctx context.Context, claim Claim) ([]*fairlead.Job, error)
	// Settle moves running jobs as their handlers decided, each under its fence. The
	// answer has one entry per settlement, in order; a lost lease is such an entry and
	// never an error of the call. Repeating a settlement whose answer was lost is
	// fine. A job that Reap has taken from a dead node is lost to that node, even if
	// it has ended. A job that has succeeded is lost to a settlement with any other
	// end: a handler that completed its job in a Tx may fail afterwards. A job whose rows
	// a caller's transaction holds is answered with SettledHeld, after a short wait at
	// most, and does not keep the others from being settled; a database with one writer
	// waits instead. Settle fails with ErrInvalid if a move is unknown, and then settles
	// none of them.
	Settle(ctx context.Context, settlements []fairlead.Settlement) ([]fairlead.Settled, error)
	// Save keeps progress and memo of a running job under its fence, and resets its
	// crashes. It fails with ErrLeaseLost, and with ErrUnavailable if a caller's
	// transaction holds the job.
	Save(ctx context.Context, save fairlead.Save) error
	// Report adds to the counts of started jobs, for Usage. Names are distinct. Counts
	// older than UsageWindow are dropped.
	Report(ctx context.Context, starts []Starts) error
	// Held lists the jobs that are leased to the node.
	Held(ctx context.Context, node fairlead.NodeID) ([]Held, error)

	// Listen calls wake whenever there may be something new for the scope, until ctx
	// ends; then it returns nil. The first is WakeListening: what was new before was not
	// heard. A wake is a hint: it may be lost or unnecessary. Polling finds what a lost wake
	// missed.
	Listen(ctx context.Context, scope *Scope, wake func(Wake)) error
}

// Scope is which ready jobs a node may claim. It does not change once used.
type Scope struct {
	Queues []string // nil: all but Except
	Except []string
	Kinds  []string // handled kinds; others are left for nodes that know them
	// Tenants are those whose jobs it may claim; nil: all.
	Tenants []string
}

// Claim asks for ready jobs.
type Claim struct {
	Node  fairlead.NodeID
	Scope *Scope
	Max   int
	Rooms map[string]int // kind → limit for this kind; kinds not named have room for Max
	Solo  bool           // claim crash suspects, and nothing else
	// Bytes bounds the documents (Args, Memo and Progress) of all jobs together; 0: they are
	// not bounded. Once it is reached, further jobs come without theirs, marked as Bare. The
	// first job always has its own.
	Bytes int
}

// SoloAfter is how many crashes make a ready job a suspect. A node runs at most one
// suspect at a time, so that a job which kills its node is identified, and jobs that
// merely ran beside it are not.
const SoloAfter = 3

// Held is one lease.
type Held struct {
	ID    int64
	Fence int64
}

// Wake is what may be new.
type Wake int

// The kinds of wakes.
const (
	WakeWork      Wake = iota // jobs became ready
	WakeLater                 // jobs were scheduled: the next one may be due sooner than known
	WakeCancel                // a running job was asked to stop, or a node to start no more jobs
	WakeRoom                  // jobs gave back slots of limits that others may wait for
	WakeListening             // from now on wakes are heard; any of them may have been missed
)
