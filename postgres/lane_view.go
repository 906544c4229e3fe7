package postgres

import (
	"slices"

	"github.com/fairlead-io/fairlead/internal/dispatch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// busyLane is a lane that has ready jobs.
type busyLane struct {
	dispatch.Lane
	open    openLane
	version uint64           // of the lane head it was seen by
	before  laneView         // what was known of the lane when the claim began
	unread  []laneSpan       // the spans that have not been read yet
	others  *dispatch.Others // the nodes that run its jobs, if this claim does not serve the lane
	share   *dispatch.Share  // of its tenant, if tenants share the starts of its queue

	passedOver bool // jobs were left out because other transactions had locked them
}

// laneView holds what is known about the jobs of a lane.
type laneView struct {
	keys   []dispatch.Key // the first jobs
	unread []laneSpan     // where the other jobs are
}

// unseenView returns the view of a lane that was not read.
func unseenView(open *openLane) laneView {
	v := laneView{unread: open.outset.spans()}
	for i := range v.unread {
		v.unread[i].lane = open.id
	}
	return v
}

func newBusyLane(open openLane, before laneView) *busyLane {
	lane := &busyLane{open: open, before: before}
	lane.restart()
	return lane
}

// restart drops what was read of the lane since the claim began, except where the lane
// begins.
func (l *busyLane) restart() {
	l.unread = slices.Clone(l.before.unread)
	l.Lane = dispatch.Lane{
		ID: l.open.id, Kind: l.open.Kind, From: l.From, Others: l.others, Share: l.share,
		Keys: slices.Clone(l.before.keys), All: len(l.unread) == 0,
	}
}

// view returns what is known of the lane by now.
func (l *busyLane) view() laneView { return laneView{keys: l.Keys, unread: l.unread} }

// begin returns the key of the first job, or a lower bound of it.
func (v laneView) begin() dispatch.Key {
	switch {
	case len(v.keys) > 0:
		return v.keys[0]
	case len(v.unread) > 0:
		from := v.unread[0].from
		return dispatch.Key{Turn: from.turn, StartBy: from.startBy, ID: from.id}
	}
	return dispatch.Front
}

func (v laneView) empty() bool { return len(v.keys)+len(v.unread) == 0 }

// laneReading reads the keys of the next jobs of lanes.
type laneReading struct {
	lanes []*busyLane
	page  int // how many jobs to read of each span
	spans []laneSpan
	found [][]dispatch.Key // per span
	skip  map[int64]bool   // jobs to pass over
}

func (c *claimer) newLaneReading(lanes []*busyLane, page int) *laneReading {
	r := &laneReading{lanes: lanes, page: page, skip: c.locked}
	for _, lane := range lanes {
		r.spans = append(r.spans, lane.unread...)
	}
	r.found = make([][]dispatch.Key, len(r.spans))
	return r
}

func (r *laneReading) call(c *claimer) call {
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

// done hands the lanes what was found.
func (r *laneReading) done() {
	found := r.found
	for _, lane := range r.lanes {
		n := len(lane.unread)
		lane.add(found[:n], r.page, r.skip)
		found = found[n:]
	}
}

// add takes over what was found in the unread spans. Nothing is known about what
// follows a span that has more to read.
func (l *busyLane) add(found [][]dispatch.Key, page int, skip map[int64]bool) {
	for i, keys := range found {
		slices.SortFunc(keys, dispatch.Key.Compare)
		for _, key := range keys {
			if skip[key.ID] {
				l.passedOver = true
				continue
			}
			l.Keys = append(l.Keys, key)
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
