package postgres

import (
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// neighbours is what a claim has to know of other nodes: to jobs that only they
// can run it leaves what limits entitle these to.
type neighbours struct {
	nodes []fairlead.Node
	now   time.Time
}

func (n *neighbours) calls(sql *statements) []call {
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

// strange lists the lanes under limits that this claim does not serve.
func (l *limitedClaim) strange() []openLane {
	all := l.Store.lanes.Known()
	if l.claim.Solo || len(all) == len(l.claiming.lanes) {
		return nil
	}
	var strange []openLane
	now := time.Now()
	for _, lane := range all {
		if sqlstore.Serves(l.claim.Scope, lane.LaneKey) || l.known.Paused(lane.LaneKey) {
			continue
		}
		if hold := l.known.hold(lane); hold != nil {
			outset := l.marks.begin(markedLane{lane: lane.ID}, now)
			strange = append(strange, openLane{id: lane.ID, kind: lane.Kind, hold: hold, outset: outset})
		}
	}
	return strange
}

// befriend leaves out those of the strange lanes whose jobs nobody can run now.
func (l *limitedClaim) befriend(lanes []*busyLane, strange []openLane, n *neighbours) []*busyLane {
	if len(strange) == 0 {
		return lanes
	}
	strangers := sqlstore.NewStrangers(l.claim.Node, l.claim.Scope, n.nodes, n.now)
	return slices.DeleteFunc(lanes, func(lane *busyLane) bool {
		key, _ := l.Store.lanes.Key(lane.ID)
		if sqlstore.Serves(l.claim.Scope, key) {
			return false
		}
		lane.others = strangers.Of(key)
		return lane.others == nil
	})
}
