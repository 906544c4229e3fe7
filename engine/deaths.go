package engine

import (
	"context"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
)

// deaths knows the nodes of the cluster, to say which of them died. Only the loop that
// reaps uses it.
type deaths struct {
	life     *life
	named    map[fairlead.NodeID]bool // dead nodes of which the log says so
	declared int                      // dead since the last list, by this node
}

func newDeaths(l *life) *deaths {
	return &deaths{life: l, named: map[fairlead.NodeID]bool{}}
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
// each was silent. Nodes may have been dead for a while before one may say so: of those that
// were not named yet, the last to die are meant.
func (d *deaths) name(ctx context.Context, nodes []fairlead.Node) error {
	if d.declared > 0 {
		now, err := d.life.store.Now(ctx)
		if err != nil {
			return err
		}
		fallen := slices.DeleteFunc(slices.Clone(nodes), func(n fairlead.Node) bool { return !n.Died() || d.named[n.ID] })
		slices.SortFunc(fallen, func(a, b fairlead.Node) int { return b.Until.Compare(a.Until) })
		for _, n := range fallen[:min(len(fallen), d.declared)] {
			d.named[n.ID] = true
			d.life.log.Warn("node declared dead: silent for longer than its lease", "dead_node", int64(n.ID), "name", n.Name, "address", n.Address,
				"last_beat", n.LastBeat.UTC(), "silence", now.Sub(n.LastBeat).Round(time.Millisecond))
		}
	}
	d.declared = 0
	named := d.named
	d.named = map[fairlead.NodeID]bool{} // without those that are forgotten
	for _, n := range nodes {
		if named[n.ID] {
			d.named[n.ID] = true
		}
	}
	return nil
}
