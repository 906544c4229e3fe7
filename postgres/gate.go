package postgres

import (
	"context"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// gatesAtOnce bounds the gates that one admission locks.
const gatesAtOnce = 100

// gateExit is how jobs give back their places.
type gateExit string

const (
	ended   gateExit = "ended"
	putOff  gateExit = "put off"
	deleted gateExit = "deleted"
)

// leaveCall gives back the places of jobs that were moved in the same transaction, and
// adds their gates to a list.
func (s *Store) leaveCall(how gateExit, gates *[]int64, ids ...int64) call {
	before := len(*gates)
	return call{
		sql: s.sql.LeaveGates, args: []any{ids, string(how)}, each: readGates(gates),
		restart: func() { *gates = (*gates)[:before] },
	}
}

func readGates(gates *[]int64) func(sqlstore.Scanner) error {
	return func(row sqlstore.Scanner) error {
		var gate int64
		err := row.Scan(&gate)
		*gates = append(*gates, gate)
		return err
	}
}

// gates returns the gates of jobs about to be stored.
func (n *newJobs) gates() []int64 {
	var gates []int64
	for _, job := range n.jobs {
		if gate := sqlstore.GateOf(job); gate != 0 {
			gates = append(gates, gate)
		}
	}
	return gates
}

// admit admits as many parked jobs as the gates have places for. It follows the
// transaction that freed places or parked jobs. A failure is ignored: that transaction
// has recorded the gates, and Promote admits what is left.
func (s *Store) admit(ctx context.Context, gates []int64) {
	ctx = sqlstore.Brief(ctx)
	slices.Sort(gates)
	for some := range slices.Chunk(slices.Compact(gates), gatesAtOnce) {
		if s.admitAt(ctx, some) != nil {
			return
		}
	}
}

// admitAt admits jobs of a few gates and wakes nodes.
func (s *Store) admitAt(ctx context.Context, gates []int64) error {
	var lanes []int32
	err := s.runPlain(ctx,
		call{sql: s.sql.Pin + s.sql.ShareLimits, args: []any{s.limitsLock}},
		call{sql: s.sql.LockGates, args: []any{gates}},
		call{sql: s.sql.Admit, args: []any{gates}, restart: func() { lanes = nil }, each: func(row sqlstore.Scanner) error {
			var lane int32
			var count int
			err := row.Scan(&lane, &count)
			lanes = append(lanes, lane)
			return err
		}})
	if err == nil {
		s.notifier.work(lanes...)
	}
	return err
}

// admitNews admits jobs of all gates that a transaction has recorded.
func (s *Store) admitNews(ctx context.Context) error {
	last := int64(0)
	for {
		var gates []int64
		err := s.run(ctx, call{sql: s.sql.GatesWithNews, args: []any{last, gatesAtOnce}, restart: func() { gates = nil }, each: readGates(&gates)})
		if err != nil || len(gates) == 0 {
			return err
		}
		if err := s.admitAt(ctx, gates); err != nil {
			return err
		}
		last = gates[len(gates)-1]
	}
}

// admitSoon is admitNews for a caller whose own work is committed. It ignores a
// failure, because Promote admits what is left.
func (s *Store) admitSoon(ctx context.Context) { _ = s.admitNews(ctx) }

// holdersShown is how many of the jobs that hold a place Explain names.
const holdersShown = 5

// gateOf reads the state of a parked job's gate.
func (s *Store) gateOf(ctx context.Context, job *fairlead.Job, places int) (sqlstore.Gate, error) {
	gate, id := sqlstore.Gate{Places: places}, sqlstore.GateOf(job)
	err := s.run(ctx,
		call{sql: s.sql.GateHolders, args: []any{id, holdersShown}, restart: func() { gate.By = nil }, each: func(row sqlstore.Scanner) error {
			var holder int64
			err := row.Scan(&gate.Taken, &holder)
			gate.By = append(gate.By, holder)
			return err
		}},
		call{
			sql: s.sql.GateAhead, args: []any{id, int16(-job.Priority), sqlstore.Micros(job.StartBy), job.ID, fairlead.MaxAhead},
			each: func(row sqlstore.Scanner) error { return row.Scan(&gate.Ahead) },
		})
	return gate, err
}
