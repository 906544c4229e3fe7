package postgres

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"time"
)

// Jobs that were claimed leave dead entries at the front of their lane's
// index, which every later claim steps over until they are vacuumed away: not
// before the oldest transaction ends. Marks remember how far claims of this
// process have come, so that most of them begin there.
//
// Jobs may come to stand behind a mark: promoted, reaped and reopened ones,
// those with an early StartBy or of a transaction that committed late. Whoever
// puts them there says so, and the lane is looked at as a whole again. For
// those that nobody heard of (a caller's transaction without Wake, a lost
// notification) that is done every now and then anyway. A job of higher
// priority never stands behind a mark: each priority has its own.

const (
	markTurns = 8  // priorities of one lane with marks
	lookShare = 20 // looks because of time take at most one part in so many of the time
	newsShare = 4  // looks because of news: the same
)

// laneCursors are those of all lanes.
type laneCursors struct {
	after int           // jobs claimed at one priority, before there is a mark: stepping over few is cheap
	trail time.Duration // marks stay so far behind what was claimed last, for commits that take a moment
	look  time.Duration // how often to look at a whole lane at most
	dear  time.Duration // from what cost on a look because of news may have to wait

	mu    sync.Mutex
	lanes map[cursorLane]*cursorsOfLane
}

func newLaneCursors() *laneCursors {
	return &laneCursors{after: 2000, trail: 50 * time.Millisecond, look: time.Second, dear: 20 * time.Millisecond, lanes: map[cursorLane]*cursorsOfLane{}}
}

// slow tells whether something took so long that claims may have overtaken it.
func (m *laneCursors) slow(took time.Duration) bool { return took > m.trail/2 }

type cursorLane struct {
	lane int32
	solo bool
}

type cursorsOfLane struct {
	turns    map[int16]*laneCursor
	lookedAt time.Time     // when the whole lane was looked at last
	lookCost time.Duration // how long that took
	rewinds  int           // how often something came to stand behind a mark
	looked   int           // rewinds that the last look has seen
}

type laneCursor struct {
	claimed int      // jobs
	safe    position // where to begin
	next    position // what safe becomes once it has rested
	nextAt  time.Time
}

// position is a place in the order of one lane.
type position struct {
	turn        int16
	startBy, id int64
}

// front is before everything else in a lane.
var front = position{math.MinInt16, math.MinInt64, math.MinInt64}

func (p position) compare(q position) int {
	return cmp.Or(cmp.Compare(p.turn, q.turn), cmp.Compare(p.startBy, q.startBy), cmp.Compare(p.id, q.id))
}

// claimStart is where a claim from a lane begins.
type claimStart struct {
	lane    cursorLane
	marks   []position // in order, one per priority that has a mark; none: at the front
	rewinds int        // those that the claim is going to see
	memory  bool       // nothing is looked at: what was seen before is believed
}

func (o claimStart) whole() bool { return len(o.marks) == 0 && !o.memory }

// begin tells where a claim from a lane has to look.
func (m *laneCursors) begin(lane cursorLane, now time.Time) claimStart {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.lanes[lane]
	if l == nil {
		return claimStart{lane: lane}
	}
	o := claimStart{lane: lane, rewinds: l.rewinds}
	rested := now.Sub(l.lookedAt)
	if rested >= max(m.look, lookShare*l.lookCost) || l.rewinds > l.looked && (l.lookCost < m.dear || rested >= newsShare*l.lookCost) {
		return o
	}
	for _, mark := range l.turns {
		if mark.claimed >= m.after && mark.safe != front {
			o.marks = append(o.marks, mark.safe)
		}
	}
	slices.SortFunc(o.marks, position.compare)
	return o
}

// laneTake is what a claim brought back from one lane.
type laneTake struct {
	last     map[int16]position // the last job per priority
	count    map[int16]int
	complete bool     // nothing was left for lack of room
	reached  position // else: nothing was left before this
	cost     time.Duration
}

// note moves the marks of a lane on after a claim.
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
		for _, mark := range l.turns {
			if !h.complete && h.reached.compare(mark.safe) < 0 {
				l.looked = o.rewinds - 1 // there may be more behind this mark
			}
		}
	}
	for turn, last := range h.last {
		mk := l.turns[turn]
		if mk == nil {
			if len(l.turns) == markTurns {
				clear(l.turns) // so many priorities are not worth it
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

// rewind says that jobs may have come to stand behind the marks of lanes.
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

// reset forgets all marks.
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
