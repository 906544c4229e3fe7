package sqlstore

import "time"

// A walk through all jobs retires and removes lanes, one window per call of Prune. Each
// row of lane records when it was last seen to have a job (or a schedule); the walk
// writes that at most once a day. A lane that a whole walk has not seen, and that was
// not seen for LaneUnused, is retired: no job is stored in it any more, unless a
// process takes it into use again. It is removed when a whole walk that began after its
// retirement has not seen it either, and no transaction is open that may have read it
// before.

const (
	// LaneUnused is how long a lane holds no job before it is retired. Programs of a
	// version that does not know of retirement continue to use their lanes: this is the
	// time to replace them.
	LaneUnused = 30 * 24 * time.Hour
	// LaneRetired is how long a lane stays retired before it is removed.
	LaneRetired = 24 * time.Hour
	// LaneWalkEvery is how often a walk begins.
	LaneWalkEvery = 24 * time.Hour
	// LaneWalkWindow is how many jobs a call of Prune looks at.
	LaneWalkWindow = 20_000
	// LaneWalkEnd bounds how many lanes are retired, and how many removed, at the end
	// of a walk.
	LaneWalkEnd = 20_000
)

// LaneWalk is the row of lane_walk: how far the walk has come.
type LaneWalk struct {
	BegunAt int64
	After   int64 // id of the last job that was read
	EndedAt int64 // zero while the walk is in progress
	Settled bool  // no transaction older than the last retirement was open when the walk began
	Removed int64 // lanes that all walks have removed
	Now     int64 // the database's clock
}

// Due reports whether the next walk may begin.
func (w *LaneWalk) Due() bool {
	return w.EndedAt != 0 && w.Now-w.BegunAt >= LaneWalkEvery.Microseconds()
}

// Begin begins a walk.
func (w *LaneWalk) Begin(settled bool) {
	w.BegunAt, w.After, w.EndedAt, w.Settled = w.Now, 0, 0, settled
}

// Unused returns the time before which a lane must have been last seen to be retired
// now.
func (w *LaneWalk) Unused() int64 { return min(w.BegunAt, w.Now-LaneUnused.Microseconds()) }

// Retired returns the time before which a lane must have been retired to be removed
// now.
func (w *LaneWalk) Retired() int64 { return min(w.BegunAt, w.Now-LaneRetired.Microseconds()) }

// MissingLanes returns the ids above floor, up to and including top, that no known lane
// has: one of them may still be committed. ok is false if there are so many that
// reading all lanes again costs less.
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

// TooManyLanes reports whether a process that has not pruned for long, or never does,
// knows so many lanes that most of them may be gone.
func TooManyLanes(known int, kept int64) bool {
	const few = 10_000
	return int64(known) > 2*kept+few
}

// Gone returns those of the known lanes that are not among the ids of all lanes, which
// were read after known was.
func Gone(known []Lane, all map[int32]bool) []int32 {
	var gone []int32
	for _, lane := range known {
		if !all[lane.ID] {
			gone = append(gone, lane.ID)
		}
	}
	return gone
}
