package sqlite

import (
	"maps"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// withGates runs a function and then admits jobs at the gates that it noted. Both are
// part of one transaction, so no commit leaves a place free while a job is parked for
// it, and nothing has to be repaired later.
func withGates[T any](t *txn, f func(t *txn) (T, error)) (T, error) {
	result, err := f(t)
	if err == nil {
		err = t.admit()
	}
	return result, err
}

// noteGate records that a gate got a job or a place back, or has more places.
func (t *txn) noteGate(gate int64) {
	if t.notedGates == nil {
		t.notedGates = map[int64]bool{}
	}
	t.notedGates[gate] = true
}

// noteGates notes the gates that a query finds, and reports whether there are any.
func (t *txn) noteGates(query string, args ...any) (bool, error) {
	gates, err := t.list(query, args...)
	for _, gate := range gates {
		t.noteGate(gate)
	}
	return len(gates) > 0, err
}

// admit makes the first parked jobs of the gates ready, as many as have a place.
func (t *txn) admit() error {
	if len(t.notedGates) == 0 {
		return nil
	}
	ids, lanes, err := t.withLanes(t.sql.Admissible, idList(slices.Collect(maps.Keys(t.notedGates))))
	if err != nil || len(ids) == 0 {
		return err
	}
	list, all := idList(ids), int64(len(ids))
	if err := t.must(all, t.sql.PassGate, driver.SoloAfter, list); err != nil {
		return err
	}
	if err := t.must(all, t.sql.LeaveParkedMany, list); err != nil {
		return err
	}
	if err := t.must(all, t.sql.TakePlaces, list); err != nil {
		return err
	}
	return t.workIn(lanes)
}

// park moves n scheduled jobs of a list, which are due but have no place at their gate,
// to parked.
func (t *txn) park(list string, n int64) error {
	if err := t.must(n, t.sql.Park, list); err != nil {
		return err
	}
	_, err := t.noteGates(t.sql.GatesOf, list)
	return err
}

// giveBack gives back the place that a job has at its gate, if it has one.
func (t *txn) giveBack(p *placed) error {
	if !p.admitted {
		return nil
	}
	t.noteGate(p.gate)
	return t.must(1, t.sql.LeaveGates, idList([]int64{p.id}))
}

// giveBackMany gives back the places of many jobs, some of which may have none.
func (t *txn) giveBackMany(list string) error {
	gated, err := t.noteGates(t.sql.GatesOf, list)
	if err == nil && gated {
		_, err = t.exec(t.sql.LeaveGates, list)
	}
	return err
}

// widen notes the gates of a kind if a new limit has more places than the kind had so
// far.
func (t *txn) widen(limit fairlead.Limit) error {
	if limit.Scope != fairlead.LimitKind {
		return nil
	}
	config, err := t.config()
	if err != nil || limit.PerKey <= config.Places(limit.Name) {
		return err
	}
	_, err = t.noteGates(t.sql.BusyGates, limit.Name)
	return err
}

// named is how many of the jobs that hold places an explanation names.
const named = 5

// gateOf returns the state of a parked job's gate.
func (t *txn) gateOf(job *fairlead.Job, config *sqlstore.LimitConfig) (sqlstore.Gate, error) {
	id, key := sqlstore.GateOf(job), keyOf(job)
	gate := sqlstore.Gate{Places: config.Places(job.Kind)}
	_, err := t.one(t.sql.GateState, []any{id, key.Turn, key.StartBy, key.ID, fairlead.MaxAhead}, &gate.Taken, &gate.Ahead)
	if err != nil {
		return gate, err
	}
	gate.By, err = t.list(t.sql.GateHolders, id, named)
	return gate, err
}
