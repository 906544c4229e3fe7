package postgres

import (
	"context"
	"math"
	"strings"
	"sync/atomic"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// mostSlack bounds how many extra jobs a claim chooses.
const mostSlack = 8192

// mergeState holds how claims from several lanes are made.
type mergeState struct {
	plain, byRoom string       // the statements
	slack         atomic.Int64 // how many extra jobs to choose, because other transactions lock some
}

func (m *mergeState) prepare(sql *statements) {
	m.plain = strings.ReplaceAll(sql.ClaimMerged, choice, sql.ChooseFirst)
	m.byRoom = strings.ReplaceAll(sql.ClaimMerged, choice, sql.ChooseByRoom)
}

// laneSpan is a section of a lane.
type laneSpan struct {
	lane     int32
	from     position
	lastTurn int16
	most     int // how many jobs to claim from it at most
	room     int // number of the room it shares with other spans, from 1
}

// claimMerged claims from several spans in their common order. It reports whether it
// may have left jobs that it could have claimed.
func (c *claimer) claimMerged(ctx context.Context, known *rules, open []openLane) (more bool, err error) {
	slack := int(c.merges.slack.Load())
	choose := c.left + slack
	spans, rooms, shared := c.spans(open, choose)
	chosen, err := c.claimSpans(ctx, known, open, spans, rooms, shared, choose)
	if err != nil {
		return false, err
	}
	crowded := c.left > 0 && chosen == choose
	c.merges.note(crowded, slack, choose)
	return crowded || shared && chosen > 0, nil
}

// note adapts the slack after a claim. crowded means that other transactions had locked
// too many of the chosen jobs.
func (m *mergeState) note(crowded bool, slack, choose int) {
	switch {
	case crowded:
		m.slack.Store(int64(min(2*slack+choose, mostSlack)))
	case slack > 0:
		m.slack.CompareAndSwap(int64(slack), int64(slack*7/8))
	}
}

// spans returns the sections of lanes to look at. Spans that share a room which may be
// too small for all of them are counted together.
func (c *claimer) spans(open []openLane, choose int) (spans []laneSpan, rooms []int32, shared bool) {
	numbers := map[string]int{}
	for _, lane := range open {
		most, number := choose, numbers[lane.Kind]
		if lane.room < c.left {
			most = lane.room
			shared = shared || number > 0 || len(lane.outset.cursors) > 0
		}
		if number == 0 {
			rooms = append(rooms, int32(most))
			number = len(rooms)
			numbers[lane.Kind] = number
		}
		for _, s := range lane.outset.spans() {
			s.lane, s.most, s.room = lane.id, most, number
			spans = append(spans, s)
		}
	}
	return spans, rooms, shared
}

// spans returns the lane without the parts before its cursors.
func (o claimStart) spans() []laneSpan {
	var spans []laneSpan
	rest := front
	for _, cursor := range o.cursors {
		if cursor.turn > rest.turn { // priorities without a cursor, before this one
			spans = append(spans, laneSpan{from: rest, lastTurn: cursor.turn - 1})
		}
		spans = append(spans, laneSpan{from: cursor, lastTurn: cursor.turn})
		rest = position{cursor.turn + 1, math.MinInt64, math.MinInt64}
	}
	return append(spans, laneSpan{from: rest, lastTurn: math.MaxInt16})
}

// claimSpans claims the first jobs of all spans and returns how many there were to
// choose from.
func (c *claimer) claimSpans(ctx context.Context, known *rules, open []openLane, spans []laneSpan, rooms []int32, shared bool, choose int) (chosen int, err error) {
	look := 2*choose/len(spans) + 2 // most spans hold no more of the taken jobs than that
	lanes := make(map[int32]sqlstore.LaneKey, len(open))
	for _, lane := range open {
		lanes[lane.id] = lane.LaneKey
	}
	args := append(append(c.commonArgs(known, c.left), spanArgs(spans)...), look, choose, c.nodeToken)
	args = append(args, c.nameLanes(lanes)...)
	text := c.merges.plain
	if shared {
		text, args = c.merges.byRoom, append(args, rooms)
	}
	read, before := c.reader(1), len(c.jobs)
	err = c.lease(ctx, call{sql: text, args: args, each: func(row sqlstore.Scanner) error {
		if len(c.jobs) == before {
			var id *int64 // null in the only row if no job was claimed
			if err := row.Scan(append([]any{&chosen, &id}, make([]any, claimColumns-1)...)...); err != nil || id == nil {
				return err
			}
		}
		return read(row)
	}})
	return chosen, err
}

func spanArgs(spans []laneSpan) []any {
	n := len(spans)
	lanes, most, rooms := make([]int32, n), make([]int32, n), make([]int32, n)
	fromTurn, lastTurn := make([]int16, n), make([]int16, n)
	fromStartBy, fromID := make([]int64, n), make([]int64, n)
	for i, s := range spans {
		lanes[i], most[i], rooms[i] = s.lane, int32(s.most), int32(s.room)
		fromTurn[i], fromStartBy[i], fromID[i], lastTurn[i] = s.from.turn, s.from.startBy, s.from.id, s.lastTurn
	}
	return []any{lanes, fromTurn, fromStartBy, fromID, lastTurn, most, rooms}
}
