package driver

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/sweep"
)

// EntryOf returns how a node handles a kind, as far as its defaults declare it. Shards
// of sweeps are handled the same everywhere.
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

// NormalizeNode returns an *InvalidError that names every field of a node about
// to join that cannot be accepted.
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
		// The defaults must satisfy what a job must.
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

// ScopeOf returns which jobs a node may claim.
func ScopeOf(n *fairlead.Node) *Scope {
	scope := &Scope{Kinds: n.Kinds, Tenants: n.Tenants}
	if len(n.Queues) > 0 {
		scope.Queues = n.Queues
	}
	return scope
}

// Beat is a node's sign of life.
type Beat struct {
	Node   fairlead.NodeID
	Lease  time.Duration // granted again from the database's now
	Idle   int
	Queued int
}

// BeatAnswer is the answer of a beat.
type BeatAnswer struct {
	Now    time.Time // the database's clock when it extended the lease
	Cancel []Held    // running jobs of this node that were asked to stop
	Drain  bool      // whether the node was asked to start no more jobs
}
