package mysql

import (
	"context"
	"database/sql"
	"maps"
	"slices"

	"github.com/fairlead-io/fairlead"
)

// place is a place at a gate that a job has.
type place struct{ gate, job int64 }

// gateSet are gates that may have somebody to admit.
type gateSet map[int64]struct{}

func (s *gateSet) add(gate int64) {
	if *s == nil {
		*s = gateSet{}
	}
	(*s)[gate] = struct{}{}
}

// sorted lists the gates in the order in which they are locked.
func (s gateSet) sorted() []int64 { return slices.Sorted(maps.Keys(s)) }

// hasPlace tells whether the job has a place at its gate. Where it need not be
// asked, a job behind a gate is only with a place.
func (p *placed) hasPlace() bool {
	switch p.state {
	case fairlead.Ready, fairlead.Running, fairlead.Waiting:
		return p.gate != 0
	case fairlead.Scheduled:
		return p.admitted
	}
	return false
}

// readPlaces finds out which scheduled jobs have a place. Only who has locked
// their rows in later may change that. In a caller's transaction, where a look
// may show an old story and a lock the gap where nothing is, the question goes
// another way: such a transaction gives no place to anybody, and takes none from
// a job that stays scheduled.
func (t *txn) readPlaces(ctx context.Context, jobs map[int64]*placed) error {
	var asked querier = t.tx
	if t.callers {
		asked = t.lifeline
	}
	places := tuples{json: true}
	for _, p := range jobs {
		if p.gate != 0 {
			places.add().ints(p.gate, p.id).end()
		}
	}
	for list := range places.chunks() {
		err := each(ctx, asked, func(row *sql.Rows) error {
			var id int64
			if err := row.Scan(&id); err != nil {
				return err
			}
			jobs[id].admitted = true
			return nil
		}, fill(t.sql.PlacesOf, "rows", list))
		if err != nil {
			return err
		}
	}
	return nil
}

// leaveParked takes jobs out of parked whose rows are locked.
func (t *txn) leaveParked(ctx context.Context, jobs []*placed) error {
	left := tuples{json: true}
	for _, p := range jobs {
		left.add().ints(p.gate, p.turn, p.startBy, p.id).end()
	}
	hit, err := t.execRows(ctx, t.sql.LeaveParked, &left)
	return checkHits(len(jobs), hit, err)
}

// vacate gives back the places of those of the jobs that have one. Their gates
// can admit others then.
func (t *txn) vacate(ctx context.Context, places []place, free *gateSet) error {
	left := tuples{json: true}
	for _, p := range places {
		left.add().ints(p.gate, p.job).end()
	}
	hit, err := t.execRows(ctx, t.sql.Vacate, &left)
	if err != nil || hit == 0 {
		return err
	}
	for _, p := range places {
		free.add(p.gate)
	}
	return nil
}

// post leaves word of gates that may have somebody to admit, for whoever admits
// after the commit: this process at once, or Promote if that does not live to.
func (t *txn) post(ctx context.Context, gates gateSet) error {
	var posted tuples
	for _, gate := range gates.sorted() {
		posted.add().int(gate).end()
		t.posted.add(gate)
	}
	return t.insert(ctx, t.sql.PostNews, &posted)
}
