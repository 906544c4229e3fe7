package fairlead

import (
	"fmt"
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
	Defaults []KindDefaults // of a remote worker
	Draining bool           // it was asked to start nothing more
	NoToken  bool           // it joined without a token, as programs older than AsNode do
	Dead     bool           // its lease has run out or it has left; its jobs are taken back
}

// KindDefaults are what a remote worker wants for the jobs of a kind that do not
// say otherwise. Zero values leave it to the server.
type KindDefaults struct {
	Kind        string        `json:"kind"`
	Timeout     time.Duration `json:"timeout,omitempty"` // of one attempt
	MaxAttempts int           `json:"max_attempts,omitempty"`
	Retry       *Retry        `json:"retry,omitempty"`
}

// Entry is how the node handles a kind, as far as its defaults tell. Shards of sweeps
// are handled alike everywhere.
func (n *Node) Entry(kind string) *Entry {
	if IsShardKind(kind) {
		return &Entry{Options: ShardOptions()}
	}
	for _, d := range n.Defaults {
		if d.Kind == kind {
			return &Entry{Options: HandlerOptions{Timeout: d.Timeout, MaxAttempts: d.MaxAttempts, Retry: d.Retry}}
		}
	}
	return &Entry{}
}

// NormalizeNode returns an *InvalidError that names every field of a node about
// to join that cannot be accepted.
func NormalizeNode(n *Node) error {
	var c complaints
	if n.Name != "" {
		c.Name("name", n.Name, MaxName)
	}
	c.Text("version", n.Version)
	for i, kind := range n.Kinds {
		c.Name(fmt.Sprintf("kinds[%d]", i), kind, MaxName)
	}
	for i, queue := range n.Queues {
		c.Name(fmt.Sprintf("queues[%d]", i), queue, MaxName)
	}
	for i, d := range n.Defaults {
		// They are held to what a job may say.
		probe := Job{Kind: d.Kind, Timeout: d.Timeout, MaxAttempts: d.MaxAttempts, Retry: d.Retry}
		for _, f := range probe.normalize() {
			c.Refuse(fmt.Sprintf("defaults[%d].%s", i, f.Field), "%s", f.Message)
		}
		if !slices.Contains(n.Kinds, d.Kind) {
			c.Refuse(fmt.Sprintf("defaults[%d].kind", i), "is %q, which is none of its kinds; add it there", d.Kind)
		}
	}
	return Invalid(c.Found...)
}

// Scope is which jobs the node may claim.
func (n *Node) Scope() *Scope {
	scope := &Scope{Kinds: n.Kinds}
	if len(n.Queues) > 0 {
		scope.Queues = n.Queues
	}
	return scope
}

// Beat is a node's sign of life.
type Beat struct {
	Node   NodeID
	Lease  time.Duration // granted anew from the database's now
	Idle   int
	Queued int
}

// BeatAnswer is what a beat brings back.
type BeatAnswer struct {
	Now    time.Time // the database's clock when it extended the lease
	Cancel []Held    // running jobs of this node that somebody asked to stop
	Drain  bool      // whether it was asked to start nothing more
}
