package postgres

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"time"
)

// Claimed jobs leave dead entries at the front of their lane's index. Every later claim
// steps over them until vacuum removes them, which it cannot do before the oldest
// transaction ends. Cursors remember how far claims of this process have come, so that
// most claims begin there.
//
// Jobs may appear behind a cursor: promoted, reaped and reopened ones, those with an
// early StartBy, or those of a transaction that committed late. The transaction that
// puts them there wakes the lane, and the next claim reads the whole lane again. A wake
// may be missing (a caller's transaction without Wake, a lost notification), so claims
// also read whole lanes from time to time. A job of higher priority never stands behind
// a cursor, because each priority has its own.

const (
	cursorTurns = 8  // priorities of one lane with cursors
	lookShare   = 20 // full reads by time take at most one part in lookShare of the time
	wakeShare   = 4  // full reads after wakes: the same
)

// laneCursors holds the cursors of all lanes.
type laneCursors struct {
	after int           // jobs claimed at one priority before it gets a cursor: stepping over few is cheap
	trail time.Duration // how far cursors stay behind the last claimed job, for commits that take a moment
	look  time.Duration // the shortest time between two full reads of a lane
	dear  time.Duration // from this cost on, a full read after a wake may have to wait

	mu    sync.Mutex
	lanes map[cursorLane]*cursorsOfLane
}

func newLaneCursors() *laneCursors {
	return &laneCursors{after: 2000, trail: 50 * time.Millisecond, look: time.Second, dear: 20 * time.Millisecond, lanes: map[cursorLane]*cursorsOfLane{}}
}

// slow reports whether an operation took so long that claims may have overtaken it.
func (m *laneCursors) slow(took time.Duration) bool { return took > m.trail/2 }

type cursorLane struct {
	lane int32
	solo bool
}

type cursorsOfLane struct {
	turns    map[int16]*laneCursor
	lookedAt time.Time     // when the whole lane was last read
	lookCost time.Duration // how long that read took
	rewinds  int           // how often jobs appeared behind a cursor
	looked   int           // rewinds that the last full read has seen
}

type laneCursor struct {
	claimed int      // how many jobs
	safe    position // where to begin
	next    position // what safe becomes after the trail has passed
	nextAt  time.Time
}

// position is a place in the order of one lane.
type position struct {
	turn        int16
	startBy, id int64
}

// front is before every job of a lane.
var front = position{math.MinInt16, math.MinInt64, math.MinInt64}

func (p position) compare(q position) int {
	return cmp.Or(cmp.Compare(p.turn, q.turn), cmp.Compare(p.startBy, q.startBy), cmp.Compare(p.id, q.id))
}

// claimStart holds where a claim from a lane begins.
type claimStart struct {
	lane    cursorLane
	cursors []position // in order, one per priority that has a cursor; empty: at the front
	rewinds int        // how many rewinds the claim will have seen
	memory  bool       // nothing is read: the claim trusts what is remembered
}

func (o claimStart) whole() bool { return len(o.cursors) == 0 && !o.memory }

// begin returns where a claim from a lane has to look.
func (m *laneCursors) begin(lane cursorLane, now time.Time) claimStart {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.lanes[lane]
	if l == nil {
		return claimStart{lane: lane}
	}
	o := claimStart{lane: lane, rewinds: l.rewinds}
	rested := now.Sub(l.lookedAt)
	if rested >= max(m.look, lookShare*l.lookCost) || l.rewinds > l.looked && (l.lookCost < m.dear || rested >= wakeShare*l.lookCost) {
		return o
	}
	for _, cursor := range l.turns {
		if cursor.claimed >= m.after && cursor.safe != front {
			o.cursors = append(o.cursors, cursor.safe)
		}
	}
	slices.SortFunc(o.cursors, position.compare)
	return o
}

// laneTake is what a claim took from one lane.
type laneTake struct {
	last     map[int16]position // the last job per priority
	count    map[int16]int
	complete bool     // the claim left no job for lack of room
	reached  position // otherwise: the claim left no job before this position
	cost     time.Duration
}

// note advances the cursors of a lane after a claim.
func (m *laneCursors) note(o claimStart, h laneTake, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.lanes[o.lane]
	if l == nil {
		if len(h.last) == 0 {
			return
		}
		l = &cursorsOfLane{turns: map[int16]*laneCursor{}}
		m.lanes[o.lane] = l
	}
	if o.whole() {
		l.lookedAt, l.lookCost, l.looked = now, h.cost, o.rewinds
		for _, cursor := range l.turns {
			if !h.complete && h.reached.compare(cursor.safe) < 0 {
				l.looked = o.rewinds - 1 // there may be more jobs behind this cursor
			}
		}
	}
	for turn, last := range h.last {
		mk := l.turns[turn]
		if mk == nil {
			if len(l.turns) == cursorTurns {
				clear(l.turns) // cursors for so many priorities do not pay
			}
			mk = &laneCursor{safe: front, next: last, nextAt: now}
			l.turns[turn] = mk
		}
		mk.claimed += h.count[turn]
		if now.Sub(mk.nextAt) >= m.trail {
			mk.safe, mk.nextAt = mk.next, now
			if last.compare(mk.next) > 0 {
				mk.next = last
			}
		}
	}
}

// rewind records that jobs may have appeared behind the cursors of lanes.
func (m *laneCursors) rewind(lanes ...int32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, lane := range lanes {
		for _, solo := range []bool{false, true} {
			if l := m.lanes[cursorLane{lane, solo}]; l != nil {
				l.rewinds++
			}
		}
	}
}

// reset removes all cursors.
func (m *laneCursors) reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.lanes)
}

// rewindAll is rewind for every lane.
func (m *laneCursors) rewindAll() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range m.lanes {
		l.rewinds++
	}
}
