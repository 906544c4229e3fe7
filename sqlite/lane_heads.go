package sqlite

import (
	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/dispatch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// laneHeads remembers the first ready jobs of each lane, so that a claim does not have
// to read thousands of lanes for a few jobs. It belongs to the writer.
//
// It knows the jobs that a lane begins with. Claims of this writer remove them, and any
// other change of a lane's ready jobs by the writer touches the lane. Changes by other
// connections show in the file's data version: jobs may then be gone, and all that is
// known of a lane is that it does not begin earlier. If the work counter differs from
// its value after the writer's last commit, jobs were added, and all lanes are read
// again.
type laneHeads struct {
	busy    map[int32]*laneHead
	touched map[int32]bool // lanes to be read again
	work    int64          // the counter for which this holds; negative if it does not hold
	version int64          // of the data for which the known jobs are correct
}

// laneHead is the beginning of a lane that has, or had, ready jobs.
type laneHead struct {
	dispatch.Lane
	name sqlstore.LaneKey // set by the claim that serves it
}

const (
	// fewKeys is how many jobs of a lane are read at least, so that its next few claims
	// need not read it.
	fewKeys = 16
	// mostKeys bounds how many jobs are remembered for that, over all lanes.
	mostKeys = 1 << 18
)

func newLaneHeads() *laneHeads {
	h := &laneHeads{}
	h.forget()
	return h
}

// forget makes the next claim read all lanes.
func (h *laneHeads) forget() {
	*h = laneHeads{busy: map[int32]*laneHead{}, touched: map[int32]bool{}, work: -1}
}

// forgetKeys keeps only a lower bound of where each lane begins.
func (h *laneHeads) forgetKeys() {
	for _, head := range h.busy {
		head.From, head.Keys, head.All = head.First(), nil, false
	}
}

// touch records that ready jobs of a lane were added or removed other than by a claim
// that chose them.
func (h *laneHeads) touch(lane int32) {
	if h.work >= 0 {
		h.touched[lane] = true
	}
}

// committed takes over the counters of a committed transaction.
func (h *laneHeads) committed(c counters) {
	switch {
	case c.now == nil || h.work < 0:
	case c.read[workCounter] == h.work:
		h.work = c.now[workCounter]
	default:
		h.forget()
	}
}

// page returns how many jobs of a lane a claim reads at a time.
func (h *laneHeads) page(most int) int {
	lanes := max(1, len(h.busy))
	return max(most/lanes+2, min(fewKeys, mostKeys/lanes))
}

// passed records that a claim took the first n jobs of a lane.
func (h *laneHeads) passed(lane *dispatch.Lane, n int) {
	lane.From = lane.Keys[n-1].Next()
	lane.Keys = lane.Keys[n:]
	h.dropIfEmpty(lane)
}

func (h *laneHeads) dropIfEmpty(lane *dispatch.Lane) {
	if len(lane.Keys) == 0 && lane.All {
		delete(h.busy, lane.ID)
	}
}

// refreshHeads brings the heads up to date.
func (t *txn) refreshHeads() error {
	if t.counters.now == nil {
		if err := t.readCounters(); err != nil {
			return err
		}
	}
	var version int64
	if _, err := t.one(t.sql.DataVersion, nil, &version); err != nil {
		return err
	}
	h := t.laneHeads
	if work := t.counters.read[workCounter]; h.work != work {
		h.forget()
		h.work, h.version = work, version
		return t.readHeads()
	}
	if h.version != version {
		h.forgetKeys()
		h.version = version
	}
	for lane := range h.touched {
		h.busy[lane] = &laneHead{Lane: dispatch.Lane{ID: lane, From: dispatch.Front}}
		if err := t.readOn(&h.busy[lane].Lane, fewKeys); err != nil {
			return err
		}
	}
	clear(h.touched)
	return nil
}

// readHeads finds the lanes that have jobs.
func (t *txn) readHeads() error {
	return t.each(t.sql.LaneHeads, nil, func(row sqlstore.Scanner) error {
		h := &laneHead{}
		err := row.Scan(&h.ID, &h.From.Turn, &h.From.StartBy, &h.From.ID)
		t.laneHeads.busy[h.ID] = h
		return err
	})
}

// readMore reads the next jobs of a lane.
func (t *txn) readOn(lane *dispatch.Lane, page int) error {
	from := lane.From
	if n := len(lane.Keys); n > 0 {
		from = lane.Keys[n-1].Next()
	}
	read := 0
	err := t.each(t.sql.LaneKeys, []any{lane.ID, from.Turn, from.StartBy, from.ID, page}, func(row sqlstore.Scanner) error {
		var key dispatch.Key
		read++
		err := row.Scan(&key.Turn, &key.StartBy, &key.ID)
		lane.Keys = append(lane.Keys, key)
		return err
	})
	lane.All = read < page
	t.laneHeads.dropIfEmpty(lane)
	return err
}

// keyOf returns the key of a job in its lane, and among all lanes.
func keyOf(job *fairlead.Job) dispatch.Key {
	return dispatch.Key{Turn: int16(-job.Priority), StartBy: sqlstore.Micros(job.StartBy), ID: job.ID}
}
