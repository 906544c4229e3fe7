package fairlead

import "time"

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
	JoinedAt time.Time
	LastBeat time.Time
	Until    time.Time // end of its lease
	Draining bool      // it was asked to start nothing more
	Dead     bool      // its lease has run out or it has left; its jobs are taken back
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
	Now    time.Time // the database's clock
	Cancel []Held    // running jobs of this node that somebody asked to stop
	Drain  bool      // whether it was asked to start nothing more
}
