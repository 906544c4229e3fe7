package postgres

import (
	"slices"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// laneGuard holds lanes, column by column, as arguments of the statements that compare
// their names.
type laneGuard struct {
	ids                    []int32
	queues, tenants, kinds []string
}

func newLaneGuard(n int) *laneGuard {
	return &laneGuard{make([]int32, 0, n), make([]string, 0, n), make([]string, 0, n), make([]string, 0, n)}
}

func (n *laneGuard) add(id int32, key sqlstore.LaneKey) {
	n.ids = append(n.ids, id)
	n.queues, n.tenants, n.kinds = append(n.queues, key.Queue), append(n.tenants, key.Tenant), append(n.kinds, key.Kind)
}

func (n *laneGuard) args() []any { return []any{n.ids, n.queues, n.tenants, n.kinds} }

// laneGuard returns the guard arguments of jobs that are all in one lane.
func (n *newJobs) laneGuard(s *Store) []any {
	lane, key := n.lanes[0], sqlstore.KeyOf(n.jobs[0])
	if n.confirmed[lane] {
		lane = 0
	}
	server := n.serverOf(s)
	return []any{server.started, lane, key.Queue, key.Tenant, key.Kind, n.callers}
}

// serverOf returns the server that the ids come from.
func (n *newJobs) serverOf(s *Store) *knownServer {
	if n.server != nil {
		return n.server
	}
	return s.server.Load()
}

// laneGuards returns the first arguments of a statement that stores jobs: the server
// and the lanes that the statement compares with the database, and what to do if they
// differ.
func (n *newJobs) laneGuards(s *Store) []any {
	server := n.serverOf(s)
	names := newLaneGuard(1)
	for i, lane := range n.lanes {
		if n.confirmed[lane] || i > 0 && lane == n.lanes[i-1] || slices.Contains(names.ids, lane) {
			continue
		}
		names.add(lane, sqlstore.KeyOf(n.jobs[i]))
	}
	return append(append([]any{server.started}, names.args()...), n.callers)
}

// guardedCall returns a statement that stores jobs, in a caller's transaction or in the
// store's own.
func (n *newJobs) guardedCall(sql string, beliefs []any, args ...any) call {
	c := call{sql: sql, args: append(beliefs, args...)}
	if n.callers {
		c.each = func(row sqlstore.Scanner) error {
			var lanes string
			if err := row.Scan(&lanes); err != nil {
				return err
			}
			return changedLanes(lanes)
		}
	}
	return c
}
