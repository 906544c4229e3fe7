package postgres

import (
	"cmp"
	"context"
	"time"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// A survey asks which lanes hold anything, instead of looking into each: its cost
// follows the lanes that do. It pays where most lanes are empty, as they are for a
// node that is idle.

// uncertainLane is a lane that has to be looked at.
type uncertainLane struct {
	open    *openLane
	version uint64 // of its head; zero: nothing is remembered of it
	likely  bool   // it had jobs when it was last seen
}

// lastSurvey is what is known of the last survey.
type lastSurvey struct {
	at   time.Time
	cost time.Duration
	dear time.Duration // zero: dearSurvey
}

// mayBegin tells whether the next may begin.
func (s *lastSurvey) mayBegin(now time.Time) bool {
	return s.cost < cmp.Or(s.dear, dearSurvey) || now.Sub(s.at) >= lookShare*s.cost
}

// dearSurvey is from what cost on surveys have to wait, and lanes are looked into
// meanwhile: beside a long transaction a survey steps over all that was claimed since
// it began, which marks spare a look into a single lane. It is far more than a survey
// takes otherwise, also on a busy machine or from far away.
const dearSurvey = 200 * time.Millisecond

// surveyPays tells whether to ask which lanes hold anything before looking into some
// of them.
func (h *laneHeads) surveyPays(busy int, doubts []uncertainLane, now time.Time) bool {
	if len(doubts) <= manyLanes {
		return false
	}
	likely := busy
	for _, d := range doubts {
		if d.likely {
			likely++
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return 2*likely < len(doubts) && h.survey.mayBegin(now)
}

// clear keeps that a survey, begun at some time, found nothing in lanes.
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

// noteSurvey keeps what a survey cost.
func (h *laneHeads) noteSurvey(begun time.Time, cost time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.survey.at, h.survey.cost = begun, cost
}

// survey leaves out of lanes that are in doubt those that hold nothing. It finds out
// by the way whether the node is alive and which rules hold.
func (l *limitedClaim) survey(ctx context.Context, doubts []uncertainLane, s *claimCheck) ([]uncertainLane, error) {
	begun := time.Now()
	var holding map[int32]bool
	if err := l.claimer.run(ctx, s.call(l.claimer), lanesCall(&holding, l.sql.BusyLanes)); err != nil {
		return nil, err
	}
	l.laneHeads.noteSurvey(begun, time.Since(begun))
	var kept, empty []uncertainLane
	for _, d := range doubts {
		if holding[d.open.id] {
			kept = append(kept, d)
		} else {
			empty = append(empty, d)
		}
	}
	l.laneHeads.clear(empty, begun)
	return kept, nil
}

// suspected leaves out of many lanes those that hold no crash suspects. These are so
// rare that nothing is remembered of them.
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

// lanesCall reads a list of lanes.
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
