package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/dispatch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// otherNodes is what a claim has to know of other nodes: to jobs that only they
// can run it leaves what limits entitle these to.
type otherNodes struct {
	nodes []fairlead.Node
	now   time.Time
}

func (n *otherNodes) calls(sql *statements) []call {
	var micros int64
	return []call{
		nodesCall(sql, &n.nodes),
		{sql: sql.Now, each: func(row sqlstore.Scanner) error {
			err := row.Scan(&micros)
			n.now = sqlstore.Time(micros)
			return err
		}},
	}
}

// readOtherNodes finds out which other nodes there are to leave something to, before
// their lanes are looked into: those that nobody can run are not read. Under a
// global limit these are all lanes that ever were, most of them long empty and
// full of dead entries.
func (l *limitedClaim) readOtherNodes(ctx context.Context) error {
	if len(l.strange) == 0 {
		return nil
	}
	var n otherNodes
	if err := l.claimer.run(ctx, n.calls(&l.sql)...); err != nil {
		return err
	}
	l.strangers = sqlstore.NewStrangers(l.claim.Node, l.claim.Scope, n.nodes, n.now)
	switch {
	case !l.strangers.Any():
		l.strange = nil
	case len(l.strange) <= manyLanes: // of more it is remembered where they begin
		l.strange = slices.DeleteFunc(slices.Clone(l.strange), func(open openLane) bool { return l.othersOf(&open) == nil })
	}
	return nil
}

// othersOf are the nodes that run jobs of a strange lane; nil if nobody can.
func (l *limitedClaim) othersOf(open *openLane) *dispatch.Others {
	return l.strangers.Of(open.LaneKey)
}

// dropForeignLanes leaves out those of the strange lanes whose jobs nobody can run now.
func (l *limitedClaim) dropForeignLanes() {
	kept := l.line[:0]
	for _, c := range l.line {
		if c.open.strange {
			if c.others = l.othersOf(c.open); c.others == nil {
				continue
			}
		}
		kept = append(kept, c)
	}
	l.line = kept
}
