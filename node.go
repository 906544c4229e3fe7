package fairlead

import (
	"slices"
	"time"
)

// NodeID numbers a node: one life of one process. It is never reused.
type NodeID int64

// Node is one running process that runs jobs. All nodes are equal.
type Node struct {
	ID       NodeID
	Name     string // for people; need not be unique
	Address  string // where it can be reached; empty if nowhere
	Version  string
	Queues   []string // served queues; empty means all
	Kinds    []string // handled kinds
	Slots    int      // jobs it can run at once
	Idle     int      // free slots, as of the last beat
	Queued   int      // claimed but not started, as of the last beat
	Capacity int      // bound of Queued

	MaxSweeps int // of which it may have shards at once; zero: not known

	JoinedAt time.Time
	LastBeat time.Time
	Until    time.Time      // end of its lease
	Remote   bool           // it is a remote worker, whose beats a server relays
	Owner    string         // of a remote worker: name of the token with which it joined
	Tenants  []string       // of a remote worker: those whose jobs its token may run; nil: all
	Defaults []KindDefaults // of a remote worker; of other nodes the timeouts of kinds
	Draining bool           // it was asked to start nothing more
	NoToken  bool           // it joined without a token, as programs older than AsNode do
	Dead     bool           // its lease has run out or it has left; its jobs are taken back
	LeftAt   time.Time      // when it left; zero: it lives, or died
}

// Died reports whether the node's lease ran out: it is dead and did not leave.
func (n *Node) Died() bool { return n.Dead && n.LeftAt.IsZero() }

// Serves reports whether the node may run jobs of a kind in a queue, of all tenants or of some.
func (n *Node) Serves(queue, kind string) bool {
	return slices.Contains(n.Kinds, kind) && (len(n.Queues) == 0 || slices.Contains(n.Queues, queue))
}

// ServesTenant reports whether the node may run a tenant's jobs of a kind in a queue.
func (n *Node) ServesTenant(queue, tenant, kind string) bool {
	return n.Serves(queue, kind) && (len(n.Tenants) == 0 || slices.Contains(n.Tenants, tenant))
}

// KindDefaults are what a remote worker wants for the jobs of a kind that do not
// say otherwise. Zero values leave it to the server.
type KindDefaults struct {
	Kind        string        `json:"kind"`
	Timeout     time.Duration `json:"timeout,omitempty"` // of one attempt
	MaxAttempts int           `json:"max_attempts,omitempty"`
	Retry       *Retry        `json:"retry,omitempty"`
}
