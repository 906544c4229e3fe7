package mysql

import (
	"context"
	"database/sql"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// admitLeft admits jobs at up to limit gates whose gate_news rows were left: the
// process that posted them died, its caller did not call Wake, or a job was locked. It
// begins at a random gate, so that gates where nothing can be done yet do not keep it
// from the others. It skips gates that another transaction has locked.
func (s *Store) admitLeft(ctx context.Context, limit int) error {
	start := rand.Int64()
	for _, part := range [][2]int64{{start, math.MaxInt64}, {0, start}} {
		for from := part[0]; limit > 0; {
			gates, err := s.gatesWithNews(ctx, from, part[1], min(limit, gatesPerAdmission))
			if err != nil {
				return err
			}
			if len(gates) == 0 {
				break
			}
			if err := s.admitIdle(ctx, gates); err != nil {
				return err
			}
			limit -= len(gates)
			from = gates[len(gates)-1] + 1
		}
	}
	return nil
}

func (s *Store) gatesWithNews(ctx context.Context, from, to int64, limit int) (gates []int64, err error) {
	err = each(ctx, s.db, collect(&gates), s.sql.GatesWithNews, from, to, limit)
	return gates, err
}

// admitIdle admits jobs at those of the gates that no transaction has locked. It
// creates their rows first, in a separate transaction: a transaction that has skipped a
// gate must not wait for another.
func (s *Store) admitIdle(ctx context.Context, gates []int64) error {
	var known []int64
	if err := each(ctx, s.db, collect(&known), fill(s.sql.KnownGates, "ids", idList(gates))); err != nil {
		return err
	}
	if missing := slices.DeleteFunc(slices.Clone(gates), func(id int64) bool { return slices.Contains(known, id) }); len(missing) > 0 {
		err := s.inTx(ctx, "make gates", func(ctx context.Context, t *txn) error {
			_, err := t.lockGates(ctx, missing)
			return err
		})
		if err != nil {
			return err
		}
	}
	for left := gates; len(left) > 0; {
		var err error
		if left, err = s.admitAt(ctx, left, (*txn).lockIdleGates); err != nil {
			return err
		}
	}
	return nil
}

// widen posts all gates of a kind that have parked jobs. No transaction admits while
// the limits are locked, so a job that is parked later finds the new number of places.
func (r *limitChange) widen(ctx context.Context, kind string) error {
	first := map[int64]int32{} // lanes
	err := r.each(ctx, func(row *sql.Rows) error {
		var gate int64
		var lane sql.NullInt32
		err := row.Scan(&gate, &lane)
		if lane.Valid {
			first[gate] = lane.Int32
		}
		return err
	}, r.sql.ParkedGates)
	if err != nil {
		return err
	}
	var wider gateSet
	for gate, lane := range first {
		key, err := r.laneKey(ctx, lane)
		if err != nil {
			return err
		}
		if key.Kind == kind {
			wider.add(gate)
		}
	}
	return r.post(ctx, wider)
}

// mostHolders bounds how many of the jobs that hold a gate's places are named.
const mostHolders = 5

// gateOf reads the state of a parked job's gate.
func (t *txn) gateOf(ctx context.Context, job *fairlead.Job, config *sqlstore.LimitConfig) (sqlstore.Gate, error) {
	id := sqlstore.GateOf(job)
	found := sqlstore.Gate{Places: config.Places(job.Kind)}
	err := t.states(ctx, []int64{id}, func(_ int64, taken int, _ sql.NullInt32) { found.Taken = taken })
	if err != nil {
		return found, err
	}
	if err := t.each(ctx, collect(&found.By), t.sql.GateHolders, id, mostHolders); err != nil {
		return found, err
	}
	_, err = t.one(ctx, []any{&found.Ahead}, fill(t.sql.GateAhead, "gate_id", decimal(id), "turn", decimal(-job.Priority),
		"start_by", decimal(sqlstore.Micros(job.StartBy)), "id", decimal(job.ID), "limit", decimal(fairlead.MaxAhead)))
	return found, err
}
