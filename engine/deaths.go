package engine

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead"
)

// deaths knows the nodes of the cluster, to say which of them died. Only the loop that
// reaps uses it.
type deaths struct {
	life     *life
	seen     map[fairlead.NodeID]fairlead.Node // nodes that lived when they were last listed
	declared int                               // dead since then, by this node
}

// next is how long it takes until another node is dead if it does not beat before;
// zero: there is none. Leases are judged by the store's clock, of which is known when
// it ends the lease of this node.
func (d *deaths) next(ctx context.Context) (time.Duration, error) {
	l := d.life
	store, ok := l.keeper.(listsNodes)
	if !ok {
		return 0, nil
	}
	left := l.lease.left() + l.options.Lease - l.lease.length
	nodes, err := store.Nodes(ctx)
	if err != nil {
		return 0, err
	}
	if err := d.name(ctx, nodes); err != nil {
		return 0, err
	}
	var own, first time.Time
	for i := range nodes {
		switch n := &nodes[i]; {
		case n.ID == l.id:
			own = n.Until
		case !n.Dead && (first.IsZero() || n.Until.Before(first)):
			first = n.Until
		}
	}
	if own.IsZero() || first.IsZero() {
		return 0, nil
	}
	return max(left+first.Sub(own), l.options.Lease/20), nil // it may have happened, and no node can be trusted to say so
}

// name logs which nodes this one has declared dead since the last list, and for how long
// each was silent. The lease of a node that left was ended early, by itself.
func (d *deaths) name(ctx context.Context, nodes []fairlead.Node) error {
	if d.declared > 0 {
		now, err := d.life.store.Now(ctx)
		if err != nil {
			return err
		}
		for i := range nodes {
			n := &nodes[i]
			if before, lived := d.seen[n.ID]; n.Dead && lived && n.Until.Equal(before.Until) {
				d.life.log.Warn("node declared dead: it was silent for longer than its lease", "dead_node", int64(n.ID), "name", n.Name, "address", n.Address,
					"last_beat", n.LastBeat.UTC(), "silence", now.Sub(n.LastBeat).Round(time.Millisecond))
			}
		}
	}
	d.declared, d.seen = 0, make(map[fairlead.NodeID]fairlead.Node, len(nodes))
	for _, n := range nodes {
		if !n.Dead {
			d.seen[n.ID] = n
		}
	}
	return nil
}
