package mysql

import (
	"context"
	"database/sql"
	"iter"
	"slices"
	"strings"

	"github.com/fairlead-io/fairlead/internal/dispatch"
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

// laneView is what a claim has seen of a lane.
type laneView struct {
	dispatch.Lane
	quotas []int32 // that its jobs count against
	limit  int     // how many rows were asked for
}

// room is how many of the lane's jobs its limits let start.
func (v *laneView) room(most int) int {
	for _, limit := range v.Limits {
		most = min(most, limit.Room())
	}
	return most
}

// empty tells whether there is nothing to take from the lane.
func (v *laneView) empty() bool { return v.All && len(v.Keys) == 0 }

// take locks the first jobs of the lanes, as far as their limits allow.
//
// One lane is simple: the server locks the first rows that are free. Over
// several lanes it would lock as many rows of each as are wanted in all, and
// hide from other claims what this one does not take. So the claim chooses
// first, locks what it chose, and chooses again in place of what others had
// locked or taken meanwhile. If there are limits, it first chooses by a hint of
// what they leave, locks those of the lanes it chose from, and chooses again by
// what they really leave.
func (c *claiming) take(ctx context.Context, lanes []sqlstore.Lane) error {
	lanes, err := c.busyLanes(ctx, lanes)
	if err != nil {
		return err
	}
	c.view(lanes)
	if err := c.viewStrangers(ctx); err != nil {
		return err
	}
	if len(c.open) > 1 && c.rooms.left > 0 {
		if err := c.look(ctx); err != nil {
			return err
		}
	}
	for range chooseRounds {
		if !c.anyOwn() || c.rooms.left <= 0 {
			return nil
		}
		if len(c.open) == 1 && len(c.avoid) == 0 {
			return c.takeFirst(ctx, c.open[0])
		}
		picks, err := c.choose(ctx)
		if err != nil || len(picks) == 0 {
			return err
		}
		if len(c.open) == 1 && len(c.avoid) == 0 {
			continue
		}
		if !c.limited && len(c.quotas) > 0 {
			if err := c.limit(ctx, picks); err != nil {
				return err
			}
			continue
		}
		if all, err := c.lockChosen(ctx, picks); err != nil || all {
			return err
		}
	}
	c.missed = true
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

// view prepares the lanes for being looked at.
func (c *claiming) view(lanes []sqlstore.Lane) {
	c.avoid, c.views, c.quotas = map[int64]struct{}{}, make(map[int32]*laneView, len(lanes)), map[int32]*claimedQuota{}
	for _, lane := range lanes {
		c.addView(lane)
	}
}

func (c *claiming) addView(lane sqlstore.Lane) *laneView {
	view := &laneView{Lane: dispatch.Lane{ID: lane.ID, Kind: lane.Kind, From: dispatch.Front}}
	c.govern(view, lane.LaneKey)
	c.views[lane.ID] = view
	c.open = append(c.open, view)
	return view
}

// look reads the first jobs of the lanes, unless their limits are used up.
func (c *claiming) look(ctx context.Context) error {
	if err := c.estimate(ctx); err != nil {
		return err
	}
	var lanes []*laneView
	for _, view := range c.open {
		if view.room(1) > 0 {
			view.limit = max(leastPerLane, 2*c.rooms.left/len(c.open))
			lanes = append(lanes, view)
		}
	}
	return c.readHeads(ctx, lanes)
}

// limit locks the limits of the lanes that were chosen from. If another claim
// used them meanwhile, it has taken what was seen at the front of the lanes.
func (c *claiming) limit(ctx context.Context, picks []dispatch.Pick) error {
	if err := c.lockLimits(ctx, picks); err != nil || !c.stale {
		return err
	}
	return c.readHeads(ctx, c.open)
}

// takeFirst locks the first free jobs of the only lane.
func (c *claiming) takeFirst(ctx context.Context, view *laneView) error {
	if !c.limited && len(view.Limits) > 0 {
		if err := c.lockLimits(ctx, []dispatch.Pick{{Lane: &view.Lane}}); err != nil || len(c.open) == 0 {
			return err
		}
	}
	room := view.room(c.rooms.of(view.Kind))
	if room <= 0 {
		return nil
	}
	before := len(c.taken)
	err := c.lockFirst(ctx, view.ID, room)
	view.Keys, view.All = nil, len(c.taken)-before < room
	return err
}

// choose lists the first jobs over all lanes, in order, as many as there is
// room for. Lanes that hold nothing are left out from then on.
func (c *claiming) choose(ctx context.Context) ([]dispatch.Pick, error) {
	for {
		picks, hungry := dispatch.Choose(lanesOf(slices.Values(c.open)), dispatch.Ask{Max: c.rooms.left, Rooms: c.rooms.kinds})
		if len(hungry) == 0 {
			c.open = slices.DeleteFunc(c.open, (*laneView).empty)
			return picks, nil
		}
		views := make([]*laneView, len(hungry))
		for i, lane := range hungry {
			views[i] = c.views[lane.ID]
			views[i].limit = max(leastPerLane, laneGrowth*views[i].limit)
		}
		if err := c.readHeads(ctx, views); err != nil {
			return nil, err
		}
	}
}

func lanesOf(views iter.Seq[*laneView]) []*dispatch.Lane {
	var lanes []*dispatch.Lane
	for view := range views {
		lanes = append(lanes, &view.Lane)
	}
	return lanes
}

// readHeads reads the first rows of lanes, as many as their views say, without
// those that were chosen before.
func (c *claiming) readHeads(ctx context.Context, views []*laneView) error {
	for chunk := range slices.Chunk(views, lanesPerQuestion) {
		questions := make([]string, len(chunk))
		read := make(map[int32]int, len(chunk))
		for i, view := range chunk {
			view.Keys = view.Keys[:0]
			questions[i] = fill(c.sql.LaneHeads, "lane_id", decimal(view.ID), "solo", c.solo(), "limit", decimal(view.limit))
		}
		err := c.each(ctx, func(row *sql.Rows) error {
			var lane int32
			var key dispatch.Key
			if err := row.Scan(&lane, &key.Turn, &key.StartBy, &key.ID); err != nil {
				return err
			}
			read[lane]++
			if _, chosen := c.avoid[key.ID]; !chosen {
				c.views[lane].Keys = append(c.views[lane].Keys, key)
			}
			return nil
		}, strings.Join(questions, " union all "))
		if err != nil {
			return err
		}
		for _, view := range chunk {
			view.All = read[view.ID] < view.limit
		}
	}
	return nil
}

// lockChosen locks those of the chosen jobs that are still free, and tells
// whether these were all. All of them are to be avoided from now on.
func (c *claiming) lockChosen(ctx context.Context, picks []dispatch.Pick) (all bool, err error) {
	before := len(c.taken)
	for chunk := range slices.Chunk(picks, chunkTuples) {
		var keys rows
		solo := int64(0)
		if c.Solo {
			solo = 1
		}
		for _, pick := range chunk {
			keys.add().ints(int64(pick.Lane.ID), solo, int64(pick.Turn), pick.StartBy, pick.ID).end()
			c.avoid[pick.ID] = struct{}{}
		}
		if err := c.eachRows(ctx, c.note, c.sql.ClaimChosen, &keys); err != nil {
			return false, err
		}
	}
	for _, view := range c.open {
		view.Keys = slices.DeleteFunc(view.Keys, func(key dispatch.Key) bool {
			_, chosen := c.avoid[key.ID]
			return chosen
		})
	}
	return len(c.taken)-before == len(picks), nil
}
