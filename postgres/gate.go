package postgres

import (
	"context"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// gatesAtOnce bounds the locks of one admission.
const gatesAtOnce = 100

// gateExit is how jobs give back their places.
type gateExit string

const (
	ended   gateExit = "ended"
	putOff  gateExit = "put off"
	deleted gateExit = "deleted"
)

// leaveCall gives back the places of jobs that were moved in the same
// transaction, and adds their gates to a list.
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

// gates are those of jobs about to be stored.
func (n *newJobs) gates() []int64 {
	var gates []int64
	for _, job := range n.jobs {
		if gate := sqlstore.GateOf(job); gate != 0 {
			gates = append(gates, gate)
		}
	}
	return gates
}

// admit lets gates admit whom they have places for. It follows the transaction
// that made room or parked jobs and does not fail with it: that has left word of
// it, and Promote does what is left undone.
func (s *Store) admit(ctx context.Context, gates []int64) {
	ctx = sqlstore.Brief(ctx)
	slices.Sort(gates)
	for some := range slices.Chunk(slices.Compact(gates), gatesAtOnce) {
		if s.admitAt(ctx, some) != nil {
			return
		}
	}
}

// admitAt lets a few gates admit, and wakes nodes.
func (s *Store) admitAt(ctx context.Context, gates []int64) error {
	var lanes []int32
	err := s.runPlain(ctx,
		call{sql: s.sql.Pin + s.sql.ShareRules, args: []any{s.rulesLock}},
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

// admitNews lets all gates admit where somebody has left word.
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

// admitSoon is admitNews for those whose own work is done, and which does not fail
// with it: Promote does what is left undone.
func (s *Store) admitSoon(ctx context.Context) { _ = s.admitNews(ctx) }

// holdersShown is how many of those who have a place Explain names.
const holdersShown = 5

// gateOf reads how the gate of a parked job stands.
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
