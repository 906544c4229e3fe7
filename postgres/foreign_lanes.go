package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/dispatch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// otherNodes reads the other nodes: a claim leaves to jobs that only they can run what
// limits entitle these jobs to.
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

// readOtherNodes reads which other nodes can run foreign lanes. It comes before the
// lanes themselves are read, because lanes that no node can run are skipped. Under a
// global limit the foreign lanes are all lanes there ever were, most of them long empty
// and full of dead index entries.
func (l *limitedClaim) readOtherNodes(ctx context.Context) error {
	if len(l.foreign) == 0 {
		return nil
	}
	var n otherNodes
	if err := l.claimer.run(ctx, n.calls(&l.sql)...); err != nil {
		return err
	}
	l.otherNodes = sqlstore.NewOtherNodes(l.claim.Node, l.claim.Scope, n.nodes, n.now)
	switch {
	case !l.otherNodes.Any():
		l.foreign = nil
	case len(l.foreign) <= manyLanes: // if there are more, the process remembers where they begin
		l.foreign = slices.DeleteFunc(slices.Clone(l.foreign), func(open openLane) bool { return l.othersOf(&open) == nil })
	}
	return nil
}

// othersOf returns the nodes that run jobs of a foreign lane, or nil if no node can.
func (l *limitedClaim) othersOf(open *openLane) *dispatch.Others {
	return l.otherNodes.Of(open.LaneKey)
}

// dropForeignLanes removes the foreign lanes whose jobs no node can run now.
func (l *limitedClaim) dropForeignLanes() {
	kept := l.line[:0]
	for _, c := range l.line {
		if c.open.foreign {
			if c.others = l.othersOf(c.open); c.others == nil {
				continue
			}
		}
		kept = append(kept, c)
	}
	l.line = kept
}
