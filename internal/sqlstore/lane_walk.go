package sqlstore

import "time"

// Lanes are given up and removed by a walk through all jobs, a window per call of
// Prune. Each row of lane knows when it was last seen to have a job (or a schedule);
// the walk writes that at most once a day. A lane that a whole walk has not seen, and
// that was not seen for LaneUnused, is given up: nothing is stored in it any more,
// unless a process takes it into use again. It is removed when a whole walk that began
// after that has not seen it either, and no transaction is open that may have looked
// at it before.

const (
	// LaneUnused is for how long a lane holds nothing before it is given up. Programs
	// of a version that does not know of this go on using their lanes: they have so
	// long to be replaced.
	LaneUnused = 30 * 24 * time.Hour
	// LaneGivenUp is for how long a lane stays given up before it is removed.
	LaneGivenUp = 24 * time.Hour
	// LaneWalkEvery is how often a walk begins.
	LaneWalkEvery = 24 * time.Hour
	// LaneWalkWindow is at how many jobs a call of Prune looks.
	LaneWalkWindow = 20_000
	// LaneWalkEnd is how many lanes are given up, and how many removed, at the end of
	// a walk.
	LaneWalkEnd = 20_000
)

// LaneWalk is how far the walk has come: the row of lane_walk.
type LaneWalk struct {
	BegunAt int64
	After   int64 // id of the last job that was looked at
	EndedAt int64 // zero while it is under way
	Settled bool  // no transaction was open when it began that is older than what was given up before
	Removed int64 // lanes that all walks have removed
	Now     int64 // the database's clock
}

// Due tells whether the next walk is to begin.
func (w *LaneWalk) Due() bool {
	return w.EndedAt != 0 && w.Now-w.BegunAt >= LaneWalkEvery.Microseconds()
}

// Begin begins a walk.
func (w *LaneWalk) Begin(settled bool) {
	w.BegunAt, w.After, w.EndedAt, w.Settled = w.Now, 0, 0, settled
}

// Unused is when a lane was last seen that is given up now.
func (w *LaneWalk) Unused() int64 { return min(w.BegunAt, w.Now-LaneUnused.Microseconds()) }

// GivenUp is when a lane was given up that is removed now.
func (w *LaneWalk) GivenUp() int64 { return min(w.BegunAt, w.Now-LaneGivenUp.Microseconds()) }

// MissingLanes lists the ids between floor and top, which is included, that no known lane
// has: one of them may still be committed. If there are very many, reading all lanes
// again costs less: then ok is false.
func (l *Lanes) MissingLanes(floor, top int32) (ids []int32, ok bool) {
	const most = 1000
	ids = []int32{}
	l.mu.RLock()
	defer l.mu.RUnlock()
	for id := top; id > floor; id-- {
		if _, known := l.byID[id]; known {
			continue
		}
		if len(ids) == most {
			return nil, false
		}
		ids = append(ids, id)
	}
	return ids, true
}

// TooManyLanes tells whether a process that has not pruned for long, or never does,
// knows so many lanes that most of them may be gone.
func TooManyLanes(known int, kept int64) bool {
	const few = 10_000
	return int64(known) > 2*kept+few
}

// Gone are those of the known lanes that are not among the ids of all lanes, which were
// read after known was.
func Gone(known []Lane, all map[int32]bool) []int32 {
	var gone []int32
	for _, lane := range known {
		if !all[lane.ID] {
			gone = append(gone, lane.ID)
		}
	}
	return gone
}
