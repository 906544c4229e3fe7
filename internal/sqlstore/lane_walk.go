package sqlstore

import "time"

// A walk through all jobs retires and removes lanes, one window per call of Prune. Each row
// of lane records when the lane was last seen with a job or a schedule; the walk writes
// that time at most once a day. A lane is retired if a complete walk has not seen it and it
// was not seen for LaneUnused. No jobs are stored in a retired lane unless a process
// reactivates it. The lane is removed when another complete walk that began after its
// retirement has not seen it either and no transaction is open that may have read it
// before.

const (
	// LaneUnused is the time without jobs after which a lane is retired. Programs of
	// versions that do not know retirement continue to use their lanes: this is the time
	// available to replace them.
	LaneUnused = 30 * 24 * time.Hour
	// LaneRetired is the time between the retirement and the removal of a lane.
	LaneRetired = 24 * time.Hour
	// LaneWalkEvery is the interval between walks.
	LaneWalkEvery = 24 * time.Hour
	// LaneWalkWindow is the number of jobs that a call of Prune examines.
	LaneWalkWindow = 20_000
	// LaneWalkEnd limits the number of lanes retired, and the number removed, at the end of
	// a walk.
	LaneWalkEnd = 20_000
)

// LaneWalk is the row of the table lane_walk, which records the walk's progress.
type LaneWalk struct {
	BegunAt int64
	After   int64 // ID of the last job read
	EndedAt int64 // zero while the walk is in progress
	Settled bool  // no transaction older than the last retirement was open when the walk began
	Removed int64 // lanes removed by all walks so far
	Now     int64 // the database's clock
}

// Due reports whether the next walk may begin.
func (w *LaneWalk) Due() bool {
	return w.EndedAt != 0 && w.Now-w.BegunAt >= LaneWalkEvery.Microseconds()
}

// Begin starts a walk.
func (w *LaneWalk) Begin(settled bool) {
	w.BegunAt, w.After, w.EndedAt, w.Settled = w.Now, 0, 0, settled
}

// Unused returns the retirement threshold: lanes last seen before this time are to be retired.
func (w *LaneWalk) Unused() int64 { return min(w.BegunAt, w.Now-LaneUnused.Microseconds()) }

// Retired returns the removal threshold: lanes retired before this time are to be removed.
func (w *LaneWalk) Retired() int64 { return min(w.BegunAt, w.Now-LaneRetired.Microseconds()) }

// MissingLanes returns the IDs above floor, up to and including top, that are not the ID of a
// known lane. A transaction that creates such a lane may not have committed yet. If so many
// IDs are missing that rereading all lanes is cheaper, ok is false.
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

// TooManyLanes reports whether the process caches so many lanes that most of them have
// probably been removed from the database. This happens if the process has not pruned for a
// long time or never prunes.
func TooManyLanes(known int, kept int64) bool {
	const few = 10_000
	return int64(known) > 2*kept+few
}

// Gone returns the IDs of the known lanes that no longer exist. all contains the IDs of all
// existing lanes. The caller must have read it after known.
func Gone(known []Lane, all map[int32]bool) []int32 {
	var gone []int32
	for _, lane := range known {
		if !all[lane.ID] {
			gone = append(gone, lane.ID)
		}
	}
	return gone
}
