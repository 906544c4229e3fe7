package driver

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/sweep"
)

// EntryOf returns the handler options that the node declares in its defaults for a kind.
// Jobs that process sweep shards have the same options on every node.
func EntryOf(n *fairlead.Node, kind string) *fairlead.Entry {
	if sweep.IsShardKind(kind) {
		return &fairlead.Entry{Options: sweep.ShardOptions()}
	}
	for _, d := range n.Defaults {
		if d.Kind == kind {
			return &fairlead.Entry{Options: fairlead.HandlerOptions{Timeout: d.Timeout, MaxAttempts: d.MaxAttempts, Retry: d.Retry}}
		}
	}
	return &fairlead.Entry{}
}

// NormalizeNode validates a node before it joins. It returns an *InvalidError that names
// every invalid field.
func NormalizeNode(n *fairlead.Node) error {
	var c complaints
	if n.Name != "" {
		c.Name("name", n.Name, fairlead.MaxName)
	}
	c.Text("version", n.Version)
	for i, kind := range n.Kinds {
		c.Name(fmt.Sprintf("kinds[%d]", i), kind, fairlead.MaxName)
	}
	for i, queue := range n.Queues {
		c.Name(fmt.Sprintf("queues[%d]", i), queue, fairlead.MaxName)
	}
	for i, d := range n.Defaults {
		// The defaults must satisfy the same rules as a job.
		probe := fairlead.Job{Kind: d.Kind, Timeout: d.Timeout, MaxAttempts: d.MaxAttempts, Retry: d.Retry}
		if invalid := (*fairlead.InvalidError)(nil); errors.As(fairlead.NormalizeJobs([]*fairlead.Job{&probe}), &invalid) {
			c.Adopt(fmt.Sprintf("defaults[%d].", i), invalid.Fields)
		}
		if !slices.Contains(n.Kinds, d.Kind) {
			c.Refuse(fmt.Sprintf("defaults[%d].kind", i), "is %q, which is not one of the node's kinds; add it to kinds", d.Kind)
		}
	}
	return fairlead.Invalid(c.Found...)
}

// ScopeOf returns the scope of the jobs that node n may claim.
func ScopeOf(n *fairlead.Node) *Scope {
	scope := &Scope{Kinds: n.Kinds, Tenants: n.Tenants}
	if len(n.Queues) > 0 {
		scope.Queues = n.Queues
	}
	return scope
}

// A Beat is a node's heartbeat.
type Beat struct {
	Node   fairlead.NodeID
	Lease  time.Duration // length of the new lease, from the database's current time
	Idle   int
	Queued int
}

// A BeatAnswer is the response to a heartbeat.
type BeatAnswer struct {
	Now    time.Time // time by the database's clock when the lease was extended
	Cancel []Held    // running jobs of this node whose cancellation was requested
	Drain  bool      // whether the node was requested to stop starting jobs
}
