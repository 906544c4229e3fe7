package sqlite

import (
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// heads remembers where the ready jobs of each lane begin, so that a claim does
// not have to look into thousands of lanes for a few jobs. It belongs to the
// writer.
//
// What it remembers is a lower bound: jobs may be gone, which the claim finds
// out when it gets there, but none may have come before it. Jobs become ready
// either by this writer, who touches the lane, or by another process or a
// caller's transaction: then the work counter differs from what it was after
// the last commit here, and all is read anew.
type heads struct {
	first   map[int32]readyKey
	touched map[int32]bool // lanes to be read anew
	work    int64          // the counter for which this holds; negative if it does not
}

func newHeads() *heads {
	h := &heads{}
	h.forget()
	return h
}

// forget makes the next claim read all lanes.
func (h *heads) forget() {
	*h = heads{first: map[int32]readyKey{}, touched: map[int32]bool{}, work: -1}
}

// touch tells that jobs became ready in some lanes.
func (h *heads) touch(lanes map[int32]sqlstore.LaneKey) {
	if h.work < 0 {
		return
	}
	for lane := range lanes {
		h.touched[lane] = true
	}
}

// committed tells how the counters of a transaction were and are.
func (h *heads) committed(c counters) {
	switch {
	case c.now == nil || h.work < 0:
	case c.read[workCounter] == h.work:
		h.work = c.now[workCounter]
	default:
		h.forget()
	}
}

// refreshHeads brings the heads up to date.
func (t *txn) refreshHeads() error {
	if t.counters.now == nil {
		if err := t.readCounters(); err != nil {
			return err
		}
	}
	h := t.heads
	if work := t.counters.read[workCounter]; h.work != work {
		h.forget()
		h.work = work
		return t.each(t.sql.Heads, nil, func(row sqlstore.Scanner) error {
			var lane int32
			var key readyKey
			err := row.Scan(&lane, &key.turn, &key.startBy, &key.id)
			h.first[lane] = key
			return err
		})
	}
	for lane := range h.touched {
		keys, err := t.laneFrom(lane, lowestKey(), 1)
		if err != nil {
			return err
		}
		delete(h.first, lane)
		if len(keys) > 0 {
			h.first[lane] = keys[0]
		}
	}
	clear(h.touched)
	return nil
}
