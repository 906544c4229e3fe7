package fairlead

import (
	"slices"
	"time"
)

// NodeID identifies a node from the time it joins until it leaves or loses its lease. An ID
// is never reused. A node that joins again gets a new ID.
type NodeID int64

// Node is a process that runs jobs. All nodes are equal.
type Node struct {
	ID       NodeID
	Name     string   // display name; need not be unique
	Address  string   // address at which it can be reached; empty if none
	Version  string   // version of the program
	Queues   []string // queues that it serves; empty means all
	Kinds    []string // kinds that it handles
	Slots    int      // maximum number of jobs that it runs at once
	Idle     int      // free slots at the last beat
	Queued   int      // jobs claimed but not started at the last beat
	Capacity int      // maximum of Queued

	MaxSweeps int // maximum number of sweeps with shards that it runs at once; zero if unknown

	JoinedAt time.Time      // time at which it joined
	LastBeat time.Time      // time of its last beat
	Until    time.Time      // end of its lease
	Remote   bool           // it is a remote worker; a server relays its beats
	Owner    string         // for a remote worker, the name of the token with which it joined
	Tenants  []string       // for a remote worker, the tenants whose jobs its token may run; nil means all
	Defaults []KindDefaults // a remote worker's defaults per kind; for other nodes, the timeouts of kinds
	Draining bool           // it was asked to start no more jobs
	NoToken  bool           // it joined without a token, as programs older than AsNode do
	Dead     bool           // its lease has expired or it has left; other nodes take its jobs back
	LeftAt   time.Time      // time at which it left; zero if it is alive or died
}

// Died reports whether the node's lease expired before the node could leave.
func (n *Node) Died() bool { return n.Dead && n.LeftAt.IsZero() }

// Serves reports whether the node can run jobs of this kind from this queue for at least one
// tenant.
func (n *Node) Serves(queue, kind string) bool {
	return slices.Contains(n.Kinds, kind) && (len(n.Queues) == 0 || slices.Contains(n.Queues, queue))
}

// ServesTenant reports whether the node can run the tenant's jobs of this kind from this
// queue.
func (n *Node) ServesTenant(queue, tenant, kind string) bool {
	return n.Serves(queue, kind) && (len(n.Tenants) == 0 || slices.Contains(n.Tenants, tenant))
}

// KindDefaults contains a remote worker's defaults for the jobs of one kind. For a zero
// field, the server's default applies.
type KindDefaults struct {
	Kind        string        `json:"kind"`
	Timeout     time.Duration `json:"timeout,omitempty"`      // timeout of one attempt
	MaxAttempts int           `json:"max_attempts,omitempty"` // number of failed attempts after which a job fails
	Retry       *Retry        `json:"retry,omitempty"`        // pause between attempts
}
