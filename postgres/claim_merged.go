package postgres

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// mostSlack bounds how many extra jobs a claim chooses.
const mostSlack = 8192

// mergeState holds how claims from several lanes are made.
type mergeState struct {
	plain, byRoom      string                         // the statements by key
	byShare, bySingles string                         // and by shares; the second if no two tenants have the same family
	slack              atomic.Int64                   // how many extra jobs to choose, because other transactions lock some
	busy               atomic.Pointer[map[int32]bool] // the lanes that had jobs when a claim by shares last looked
}

func (m *mergeState) prepare(sql *statements) {
	leasing := strings.NewReplacer(order, "c.turn, c.start_by, c.id", "{{answer}}", "t.chosen").Replace(sql.Leasing)
	merged := strings.ReplaceAll(sql.ClaimMerged, "{{leasing}}", leasing)
	m.plain = strings.ReplaceAll(merged, choice, sql.ChooseFirst)
	m.byRoom = strings.ReplaceAll(merged, choice, sql.ChooseByRoom)

	leasing = strings.NewReplacer(order, "c.turn, c.had, c.start_by, c.id", "{{answer}}", sql.FairAnswer).Replace(sql.Leasing)
	fair := strings.ReplaceAll(sql.ClaimFair, "{{leasing}}", leasing)
	m.byShare, m.bySingles = weighBy(fair, sql.Weigh), weighBy(fair, sql.WeighSingle)
}

// weighBy completes claim_fair.
func weighBy(fair, weigh string) string {
	return strings.NewReplacer(
		"{{weigh_first}}", strings.ReplaceAll(weigh, choice, "first"),
		"{{weigh_seen}}", strings.ReplaceAll(weigh, choice, "seen"),
	).Replace(fair)
}

// laneSpan is a section of a lane.
type laneSpan struct {
	lane     int32
	from     position
	lastTurn int16
	most     int // how many jobs to claim from it at most
	room     int // number of the room it shares with other spans, from 1
}

// claimMerged claims from several spans in their common order, or by shares where
// tenants share starts. It reports whether it may have left jobs that it could have
// claimed.
func (c *claimer) claimMerged(ctx context.Context, known *limitConfig, open []openLane) (more bool, err error) {
	slack := int(c.merges.slack.Load())
	choose := c.left + slack
	spans, rooms, shared := c.spans(open, choose)
	by := spanClaim{sql: c.merges.plain, look: 2*choose/len(spans) + 2} // most spans hold no more of the taken jobs than that
	switch {
	case c.fair != nil:
		by = spanClaim{sql: c.fair.statement(&c.merges), look: c.fair.looks(spans, choose), more: c.fair.args(spans)}
	case shared:
		by.sql, by.more = c.merges.byRoom, []any{rooms}
	}
	chosen, err := c.claimSpans(ctx, known, open, spans, choose, by)
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

// spanClaim is a statement that claims from spans.
type spanClaim struct {
	sql  string
	look any   // how many jobs of each span to read first
	more []any // further arguments
}

// claimSpans claims the first jobs of all spans and returns how many there were to choose
// from.
func (c *claimer) claimSpans(ctx context.Context, known *limitConfig, open []openLane, spans []laneSpan, choose int, by spanClaim) (chosen int, err error) {
	lanes := make(map[int32]sqlstore.LaneKey, len(open))
	for _, lane := range open {
		lanes[lane.id] = lane.LaneKey
	}
	args := append(append(c.commonArgs(known, c.left), spanArgs(spans)...), by.look, choose, c.nodeToken)
	args = slices.Concat(args, c.nameLanes(lanes), by.more)
	first := c.fair.answer(&chosen)
	read, before := c.reader(len(first)), len(c.jobs)
	err = c.lease(ctx, call{sql: by.sql, args: args, each: func(row sqlstore.Scanner) error {
		if len(c.jobs) == before {
			var id *int64 // null in the only row if no job was claimed
			if err := row.Scan(slices.Concat(first, []any{&id}, make([]any, claimColumns-1))...); err != nil || id == nil {
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
