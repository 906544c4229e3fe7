package postgres

import (
	"slices"

	"github.com/fairlead-io/fairlead/internal/dispatch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// busyLane is a lane that has ready jobs.
type busyLane struct {
	dispatch.Lane
	open   openLane
	unread []span           // what was not read of it yet
	others *dispatch.Others // who runs its jobs, if this claim does not serve it
}

func newBusyLane(open openLane) *busyLane {
	lane := &busyLane{open: open}
	lane.restart()
	return lane
}

// restart forgets what was read of the lane, but for where it begins.
func (l *busyLane) restart() {
	l.Lane = dispatch.Lane{ID: l.open.id, Kind: l.open.kind, From: l.From, Others: l.others}
	l.unread = l.open.outset.spans()
	for i := range l.unread {
		l.unread[i].lane = l.open.id
	}
}

// begin is where the first job stands, or a bound before it.
func (l *busyLane) begin() dispatch.Key {
	if len(l.Keys) > 0 {
		return l.Keys[0]
	}
	return l.rest()
}

// rest is a bound before what was not read of the lane.
func (l *busyLane) rest() dispatch.Key {
	if len(l.unread) == 0 {
		return dispatch.Front
	}
	from := l.unread[0].from
	return dispatch.Key{Turn: from.turn, StartBy: from.startBy, ID: from.id}
}

// reading reads where the next jobs of lanes stand.
type reading struct {
	lanes []*busyLane
	page  int // how many jobs of each span
	spans []span
	found [][]dispatch.Key // per span
	skip  map[int64]bool   // jobs to be passed over
}

func (c *claiming) newReading(lanes []*busyLane, page int) *reading {
	r := &reading{lanes: lanes, page: page, skip: c.locked}
	for _, lane := range lanes {
		r.spans = append(r.spans, lane.unread...)
	}
	r.found = make([][]dispatch.Key, len(r.spans))
	return r
}

func (r *reading) call(c *claiming) call {
	args := append([]any{c.solo()}, spanArgs(r.spans)[:5]...)
	return call{
		sql: c.sql.LaneKeys, args: append(args, r.page), restart: func() { clear(r.found) },
		each: func(row sqlstore.Scanner) error {
			var number int
			var key dispatch.Key
			err := row.Scan(&number, &key.Turn, &key.StartBy, &key.ID)
			r.found[number-1] = append(r.found[number-1], key)
			return err
		},
	}
}

// done tells the lanes what was found.
func (r *reading) done() {
	found := r.found
	for _, lane := range r.lanes {
		n := len(lane.unread)
		lane.add(found[:n], r.page, r.skip)
		found = found[n:]
	}
}

// add takes over what was found of the unread spans. Behind a span that has
// more to read nothing is known.
func (l *busyLane) add(found [][]dispatch.Key, page int, skip map[int64]bool) {
	for i, keys := range found {
		slices.SortFunc(keys, dispatch.Key.Compare)
		for _, key := range keys {
			if !skip[key.ID] {
				l.Keys = append(l.Keys, key)
			}
		}
		if len(keys) == page {
			last := keys[len(keys)-1]
			l.unread = l.unread[i:]
			l.unread[0].from = position{last.Turn, last.StartBy, last.ID + 1}
			return
		}
	}
	l.unread, l.All = nil, true
}
