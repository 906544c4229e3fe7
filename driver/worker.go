package driver

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
)

// Worker is what a node does with the jobs it runs.
type Worker interface {
	// Join registers a node and grants it a lease. IDs grow and are never
	// reused. One that joins as Draining is so until Drain says otherwise.
	Join(ctx context.Context, node fairlead.Node, lease time.Duration) (fairlead.NodeID, error)
	// Beat extends the lease of a live node, from the moment that the answer
	// tells, and records what it reports. It fails with ErrLeaseLost if the node
	// is unknown, was declared dead, or let its lease run out: the process then
	// starts over as a new node.
	Beat(ctx context.Context, beat Beat) (BeatAnswer, error)
	// Leave ends the node's lease at once; what it still holds can be reaped.
	// Leaving twice is fine.
	Leave(ctx context.Context, node fairlead.NodeID) error

	// Claim leases ready jobs to a live node: the first by priority, StartBy
	// and ID of those that are committed, unlocked, served by the scope, not
	// paused and within their limits (see Governor). Tenants with fewer jobs than
	// their MinRunning go first, as far as they are short of it. What limits
	// leave to an earlier job, or to a tenant short of its minimum, is not taken
	// if only other live nodes with free slots that do not drain can run that.
	// Each gets the next attempt number and a fence larger than any it had
	// before. Crash suspects (see SoloAfter) are claimed only if the claim is
	// Solo. A node without a live lease gets ErrLeaseLost. What another process
	// made ready may be overlooked until news of it has come, for a second or so
	// at most.
	Claim(ctx context.Context, claim Claim) ([]*fairlead.Job, error)
	// Settle moves running jobs on as their handlers decided, each under its
	// fence. The answer has one entry per settlement, in order; a lost lease is
	// such an entry and never an error of the call. Repeating a settlement
	// whose answer was lost is fine. What Reap has taken from a dead node is lost
	// to that node, also if it has ended. So is any other end of a job that has
	// succeeded: a handler that completed its job in a Tx may fail afterwards. It
	// fails with ErrInvalid if a move is unknown, and then settles none of them.
	Settle(ctx context.Context, settlements []fairlead.Settlement) ([]fairlead.Settled, error)
	// Save keeps progress and memo of a running job under its fence, and
	// forgets its crashes. It fails with ErrLeaseLost.
	Save(ctx context.Context, save fairlead.Save) error
	// Report adds to what was started, for Usage. Names are distinct. What is older
	// than UsageWindow is forgotten.
	Report(ctx context.Context, starts []Starts) error
	// Held lists the jobs that are leased to the node.
	Held(ctx context.Context, node fairlead.NodeID) ([]Held, error)

	// Listen calls wake whenever there may be something new for the scope,
	// until ctx ends; then it returns nil. Wakes are hints: some are lost, some
	// are idle, none is late by design.
	Listen(ctx context.Context, scope *Scope, wake func(Wake)) error
}

// Scope says which ready jobs a node may claim. It does not change once used.
type Scope struct {
	Queues []string // nil: all but Except
	Except []string
	Kinds  []string // handled kinds; others are left for nodes that know them
}

// Claim asks for ready jobs.
type Claim struct {
	Node  fairlead.NodeID
	Scope *Scope
	Max   int
	Rooms map[string]int // kind → at most so many of it; kinds not named have room for Max
	Solo  bool           // claim crash suspects, and nothing else
}

// SoloAfter is how many crashes make a ready job a suspect. A node runs at most
// one suspect at a time, so that a job which kills its node is found out while
// those that merely ran beside it go free.
const SoloAfter = 3

// Held is one lease.
type Held struct {
	ID    int64
	Fence int64
}

// Wake says what may be new.
type Wake int

// The kinds of news.
const (
	WakeWork   Wake = iota // jobs became ready
	WakeLater              // jobs were scheduled: the next one may be due sooner than was known
	WakeCancel             // a running job was asked to stop, or a node to start nothing more
	WakeRoom               // jobs gave back slots of limits that others may wait for
)
