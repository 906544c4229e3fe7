package postgres

import (
	"math"
	"time"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// takes are the jobs claimed since a moment, by lane, and the last of them in
// the order of all.
func (c *claimer) takes(before int) (hauls map[int32]laneTake, reached position) {
	hauls, reached = map[int32]laneTake{}, front
	for i, job := range c.jobs[before:] {
		at := position{int16(-job.Priority), sqlstore.Micros(job.StartBy), job.ID}
		if at.compare(reached) > 0 {
			reached = at
		}
		// Jobs enqueued from now on stand after the claim's own time, but not
		// after a StartBy that is yet to come.
		if claimedAt := sqlstore.Micros(job.StartedAt); at.startBy > claimedAt {
			at.startBy, at.id = claimedAt, math.MinInt64
		}
		lane := c.laneIDs[before+i]
		h, ok := hauls[lane]
		if !ok {
			h = laneTake{last: map[int16]position{}, count: map[int16]int{}}
			hauls[lane] = h
		}
		if last, seen := h.last[at.turn]; !seen || at.compare(last) > 0 {
			h.last[at.turn] = at
		}
		h.count[at.turn]++
	}
	return hauls, reached
}

// noteTakes moves the marks of the lanes on, after a claim that asked for so
// many jobs, and may have left more even if it got fewer.
func (c *claimer) noteTakes(open []openLane, before, asked int, more bool, cost time.Duration) {
	left := more || len(c.jobs)-before == asked
	hauls, reached := c.takes(before)
	ofKind, now := map[string]int{}, time.Now()
	for _, job := range c.jobs[before:] {
		ofKind[job.Kind]++
	}
	for _, lane := range open {
		h := hauls[lane.id]
		h.cost, h.complete, h.reached = cost, true, reached
		switch {
		case ofKind[lane.Kind] >= lane.room && lane.room < asked:
			h.complete, h.reached = false, front // what has no room was passed over
		case left:
			h.complete = false
		}
		c.laneCursors.note(lane.outset, h, now)
	}
}

// jobs is how many there are.
func (h laneTake) jobs() (n int) {
	for _, count := range h.count {
		n += count
	}
	return n
}

// end is where the last of the jobs stood.
func (h laneTake) end() position {
	end := front
	for _, last := range h.last {
		if last.compare(end) > 0 {
			end = last
		}
	}
	return end
}
