package postgres

import (
	"cmp"
	"context"
	"time"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// A survey asks which lanes hold any jobs, instead of reading each lane: its cost
// follows the number of lanes that do. It pays where most lanes are empty, as they are
// for an idle node.

// uncertainLane is a lane that has to be read.
type uncertainLane struct {
	open    *openLane
	version uint64 // of its head; zero: nothing is remembered of it
	likely  bool   // it had jobs when it was last read
}

// lastSurvey holds what is known of the last survey.
type lastSurvey struct {
	at   time.Time
	cost time.Duration
	dear time.Duration // zero: dearSurvey
}

// mayBegin reports whether the next survey may begin.
func (s *lastSurvey) mayBegin(now time.Time) bool {
	return s.cost < cmp.Or(s.dear, dearSurvey) || now.Sub(s.at) >= lookShare*s.cost
}

// dearSurvey is the cost from which on surveys have to wait; claims read the lanes
// meanwhile. Beside a long transaction a survey steps over every job claimed since that
// transaction began; cursors spare a read of a single lane this. The value is far above
// what a survey takes otherwise, also on a busy machine or over a slow network.
const dearSurvey = 200 * time.Millisecond

// surveyPays reports whether to run a survey before reading uncertain lanes.
func (h *laneHeads) surveyPays(busy int, uncertain []uncertainLane, now time.Time) bool {
	if len(uncertain) <= manyLanes {
		return false
	}
	likely := busy
	for _, d := range uncertain {
		if d.likely {
			likely++
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return 2*likely < len(uncertain) && h.survey.mayBegin(now)
}

// clear records that a survey, begun at a time, found no jobs in lanes.
func (h *laneHeads) clear(lanes []uncertainLane, begun time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, lane := range lanes {
		head := &h.lanes[lane.open.id]
		if head.version != lane.version { // as in current
			head.touched = true
			continue
		}
		head.version++
		head.known, head.readAt, head.view = true, begun, laneView{}
	}
}

// noteSurvey keeps the cost of a survey.
func (h *laneHeads) noteSurvey(begun time.Time, cost time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.survey.at, h.survey.cost = begun, cost
}

// survey removes the uncertain lanes that hold no jobs. It also reads whether the node
// is alive and the version of the limits.
func (l *limitedClaim) survey(ctx context.Context, uncertain []uncertainLane, s *claimCheck) ([]uncertainLane, error) {
	begun := time.Now()
	var holding map[int32]bool
	if err := l.claimer.run(ctx, s.call(l.claimer), lanesCall(&holding, l.sql.BusyLanes)); err != nil {
		return nil, err
	}
	l.laneHeads.noteSurvey(begun, time.Since(begun))
	var kept, empty []uncertainLane
	for _, d := range uncertain {
		if holding[d.open.id] {
			kept = append(kept, d)
		} else {
			empty = append(empty, d)
		}
	}
	l.laneHeads.clear(empty, begun)
	return kept, nil
}

// suspected removes the lanes that hold no crash suspects. Suspects are so rare that
// nothing is remembered of them.
func (c *claimer) suspected(ctx context.Context, lanes []openLane) ([]openLane, error) {
	var holding map[int32]bool
	if err := c.run(ctx, lanesCall(&holding, c.sql.SuspectLanes)); err != nil {
		return nil, err
	}
	var kept []openLane
	for _, lane := range lanes {
		if holding[lane.id] {
			kept = append(kept, lane)
		}
	}
	return kept, nil
}

// lanesCall returns a statement that reads a list of lanes.
func lanesCall(into *map[int32]bool, sql string, args ...any) call {
	return call{
		sql: sql, args: args, restart: func() { *into = map[int32]bool{} },
		each: func(row sqlstore.Scanner) error {
			var lane int32
			err := row.Scan(&lane)
			(*into)[lane] = true
			return err
		},
	}
}
