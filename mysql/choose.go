package mysql

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

const (
	// manyLanes is from how many lanes on it pays to ask first which of them
	// hold anything.
	manyLanes = 32
	// lanesPerQuestion bounds the length of one statement.
	lanesPerQuestion = 64
	// leastPerLane and the factor laneGrowth say how many rows of a lane are
	// read at first, and how many more if these were not enough.
	leastPerLane, laneGrowth = 8, 4
	// chooseRounds bounds how often a claim chooses anew because others were
	// faster.
	chooseRounds = 8
)

// take locks the first jobs of the lanes.
//
// One lane is simple: the server locks the first rows that are free. Over
// several lanes it would lock as many rows of each as are wanted in all, and
// hide from other claims what this one does not take. So the claim chooses
// first, locks what it chose, and chooses again in place of what others had
// locked or taken meanwhile.
func (c *claiming) take(ctx context.Context, lanes []sqlstore.Lane) error {
	lanes, err := c.busyLanes(ctx, lanes)
	if err != nil {
		return err
	}
	avoid := map[int64]struct{}{} // jobs that were chosen before
	for range chooseRounds {
		if len(lanes) == 0 || c.rooms.left <= 0 {
			return nil
		}
		if len(lanes) == 1 && len(avoid) == 0 {
			return c.lockFirst(ctx, lanes[0])
		}
		chosen, busy, err := c.choose(ctx, lanes, avoid)
		if err != nil {
			return err
		}
		if lanes = busy; len(busy) <= 1 && len(avoid) == 0 {
			continue
		}
		before := len(c.taken)
		if err := c.lockChosen(ctx, chosen, avoid); err != nil {
			return err
		}
		if len(c.taken)-before == len(chosen) {
			return nil
		}
	}
	return nil
}

// busyLanes leaves out lanes that hold nothing, if there are so many that
// looking at each would cost more.
func (c *claiming) busyLanes(ctx context.Context, lanes []sqlstore.Lane) ([]sqlstore.Lane, error) {
	if len(lanes) < manyLanes {
		return lanes, nil
	}
	busy := map[int32]struct{}{}
	err := c.each(ctx, func(row *sql.Rows) error {
		var lane int32
		err := row.Scan(&lane)
		busy[lane] = struct{}{}
		return err
	}, c.sql.BusyLanes)
	return slices.DeleteFunc(lanes, func(lane sqlstore.Lane) bool {
		_, holds := busy[lane.ID]
		return !holds
	}), err
}

// lockChosen locks those of the chosen jobs that are still free. All of them
// are to be avoided from now on.
func (c *claiming) lockChosen(ctx context.Context, chosen []head, avoid map[int64]struct{}) error {
	for chunk := range slices.Chunk(chosen, chunkTuples) {
		var keys rows
		solo := int64(0)
		if c.Solo {
			solo = 1
		}
		for _, h := range chunk {
			keys.add().ints(int64(h.lane), solo, int64(h.turn), h.startBy, h.id).end()
			avoid[h.id] = struct{}{}
		}
		if err := c.eachRows(ctx, c.note, c.sql.ClaimChosen, &keys); err != nil {
			return err
		}
	}
	return nil
}

// head is one of the first ready jobs of a lane.
type head struct {
	lane        int32
	turn        int16
	startBy, id int64
}

func (h head) compare(other head) int {
	return cmp.Or(cmp.Compare(h.turn, other.turn), cmp.Compare(h.startBy, other.startBy), cmp.Compare(h.id, other.id))
}

// laneView is what a claim has seen of a lane.
type laneView struct {
	sqlstore.Lane
	heads []head
	limit int // how many were asked for; there may be more if as many came
}

// choose lists the first jobs over all lanes, in order, as many as there is
// room for. It also tells which lanes hold any.
func (c *claiming) choose(ctx context.Context, lanes []sqlstore.Lane, avoid map[int64]struct{}) ([]head, []sqlstore.Lane, error) {
	views := make(map[int32]*laneView, len(lanes))
	hungry := make([]*laneView, 0, len(lanes))
	for _, lane := range lanes {
		view := &laneView{Lane: lane, limit: max(leastPerLane, 2*c.rooms.left/len(lanes)) + len(avoid)}
		views[lane.ID] = view
		hungry = append(hungry, view)
	}
	for {
		if err := c.readHeads(ctx, hungry, views); err != nil {
			return nil, nil, err
		}
		chosen, short := c.merge(views, avoid)
		if short == nil {
			var busy []sqlstore.Lane
			for _, lane := range lanes {
				if len(views[lane.ID].heads) > 0 {
					busy = append(busy, lane)
				}
			}
			return chosen, busy, nil
		}
		for _, view := range short {
			view.limit *= laneGrowth
		}
		hungry = short
	}
}

// readHeads reads the first rows of lanes.
func (c *claiming) readHeads(ctx context.Context, lanes []*laneView, views map[int32]*laneView) error {
	for chunk := range slices.Chunk(lanes, lanesPerQuestion) {
		questions := make([]string, len(chunk))
		for i, view := range chunk {
			view.heads = view.heads[:0]
			questions[i] = fill(c.sql.LaneHeads, "lane_id", decimal(view.ID), "solo", c.solo(), "limit", decimal(view.limit))
		}
		err := c.each(ctx, func(row *sql.Rows) error {
			var h head
			if err := row.Scan(&h.lane, &h.turn, &h.startBy, &h.id); err != nil {
				return err
			}
			view := views[h.lane]
			view.heads = append(view.heads, h)
			return nil
		}, strings.Join(questions, " union all "))
		if err != nil {
			return err
		}
	}
	return nil
}

// merge chooses from what was seen. If the order cannot be told because a lane
// may have more jobs than were read of it, that lane is returned, together
// with those that are about to run short too.
func (c *claiming) merge(views map[int32]*laneView, avoid map[int64]struct{}) (chosen []head, short []*laneView) {
	var all []head
	for _, view := range views {
		all = append(all, view.heads...)
	}
	slices.SortFunc(all, head.compare)
	rooms, seen := c.rooms.clone(), make(map[int32]int, len(views))
	for _, h := range all {
		view := views[h.lane]
		seen[h.lane]++
		if _, known := avoid[h.id]; !known && rooms.of(view.Kind) > 0 {
			rooms.use(view.Kind)
			chosen = append(chosen, h)
		}
		if rooms.left == 0 {
			return chosen, nil
		}
		if seen[h.lane] == view.limit && rooms.of(view.Kind) > 0 {
			for _, other := range views {
				if len(other.heads) == other.limit && seen[other.ID] > other.limit/2 && rooms.of(other.Kind) > 0 {
					short = append(short, other)
				}
			}
			return nil, short
		}
	}
	return chosen, nil
}
