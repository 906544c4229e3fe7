package mysql

import (
	"context"
	"database/sql"
	"maps"
	"slices"

	"github.com/fairlead-io/fairlead"
)

// place is a place at a gate, and the job that holds it.
type place struct{ gate, job int64 }

// gateSet is a set of gates that may have a job to admit.
type gateSet map[int64]struct{}

func (s *gateSet) add(gate int64) {
	if *s == nil {
		*s = gateSet{}
	}
	(*s)[gate] = struct{}{}
}

// sorted returns the gates in the order in which they are locked.
func (s gateSet) sorted() []int64 { return slices.Sorted(maps.Keys(s)) }

// hasPlace reports whether the job has a place at its gate. In states for which this is
// not read, a job behind a gate always has a place.
func (p *placed) hasPlace() bool {
	switch p.state {
	case fairlead.Ready, fairlead.Running, fairlead.Waiting:
		return p.gate != 0
	case fairlead.Scheduled:
		return p.admitted
	}
	return false
}

// readPlaces reads which scheduled jobs have a place. Only a transaction that has
// locked their rows in later may change that. A caller's transaction is different: a
// plain read may show an old snapshot there, and a locking read would lock the gap
// where no row is. Such a transaction gives no job a place, and takes none from a job
// that stays scheduled.
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

// leaveParked removes jobs from parked whose rows are locked.
func (t *txn) leaveParked(ctx context.Context, jobs []*placed) error {
	left := tuples{json: true}
	for _, p := range jobs {
		left.add().ints(p.gate, p.turn, p.startBy, p.id).end()
	}
	hit, err := t.execRows(ctx, t.sql.LeaveParked, &left)
	return checkHits(len(jobs), hit, err)
}

// vacate gives back the places of those of the jobs that have one. Their gates can then
// admit other jobs.
func (t *txn) vacate(ctx context.Context, places []place, free *gateSet) error {
	left := tuples{json: true}
	for _, p := range places {
		left.add().ints(p.gate, p.job).end()
	}
	hit, err := t.execRows(ctx, t.sql.LeaveGates, &left)
	if err != nil || hit == 0 {
		return err
	}
	for _, p := range places {
		free.add(p.gate)
	}
	return nil
}

// post records gates that may have a job to admit in gate_news, for the admission after
// the commit: by this process at once, or by Promote if the process dies first.
func (t *txn) post(ctx context.Context, gates gateSet) error {
	var posted tuples
	for _, gate := range gates.sorted() {
		posted.add().int(gate).end()
		t.posted.add(gate)
	}
	return t.insert(ctx, t.sql.PostNews, &posted)
}
