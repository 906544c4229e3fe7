package postgres

import (
	"math"
	"time"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// takes returns the jobs claimed since before, by lane, and the position of the last of
// them in the order of all lanes.
func (c *claimer) takes(before int) (takes map[int32]laneTake, reached position) {
	takes, reached = map[int32]laneTake{}, front
	for i, job := range c.jobs[before:] {
		at := position{int16(-job.Priority), sqlstore.Micros(job.StartBy), job.ID}
		if at.compare(reached) > 0 {
			reached = at
		}
		// Jobs enqueued from now on come after the claim's own time, but not after a
		// StartBy that is still to come.
		if claimedAt := sqlstore.Micros(job.StartedAt); at.startBy > claimedAt {
			at.startBy, at.id = claimedAt, math.MinInt64
		}
		lane := c.laneIDs[before+i]
		h, ok := takes[lane]
		if !ok {
			h = laneTake{last: map[int16]position{}, count: map[int16]int{}}
			takes[lane] = h
		}
		if last, seen := h.last[at.turn]; !seen || at.compare(last) > 0 {
			h.last[at.turn] = at
		}
		h.count[at.turn]++
	}
	return takes, reached
}

// noteTakes advances the cursors of the lanes after a claim that asked for a number of
// jobs. more means that it may have left jobs even if it got fewer.
func (c *claimer) noteTakes(open []openLane, before, asked int, more bool, cost time.Duration) {
	left := more || len(c.jobs)-before == asked
	takes, reached := c.takes(before)
	ofKind, now := map[string]int{}, time.Now()
	for _, job := range c.jobs[before:] {
		ofKind[job.Kind]++
	}
	for _, lane := range open {
		h := takes[lane.id]
		h.cost, h.complete, h.reached = cost, true, reached
		if c.fair != nil {
			h.reached = h.end() // by shares, a claim gets further in some lanes than in others
		}
		switch {
		case ofKind[lane.Kind] >= lane.room && lane.room < asked:
			h.complete, h.reached = false, front // the claim passed over jobs without room
		case left:
			h.complete = false
		}
		c.laneCursors.note(lane.outset, h, now)
	}
}

// jobs returns how many jobs were taken.
func (h laneTake) jobs() (n int) {
	for _, count := range h.count {
		n += count
	}
	return n
}

// end returns the position of the last job.
func (h laneTake) end() position {
	end := front
	for _, last := range h.last {
		if last.compare(end) > 0 {
			end = last
		}
	}
	return end
}
