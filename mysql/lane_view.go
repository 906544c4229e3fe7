package mysql

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/fairlead-io/fairlead/internal/dispatch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

const (
	// lanesPerQuestion bounds the length of one statement.
	lanesPerQuestion = 64
	// leastPerLane is how many rows of a lane are read at first, and laneGrowth the
	// factor for the next read if these were not enough.
	leastPerLane, laneGrowth = 8, 4
)

// laneView is what a claim has seen of a lane.
type laneView struct {
	dispatch.Lane
	names    sqlstore.LaneKey
	limitIDs []int32 // that its jobs count against
	limit    int     // how many rows were asked for
	touches  uint32  // of the lane's head, before it was read
	read     bool    // whether the lane was read
	lost     bool    // whether other transactions may have some of its first jobs
}

// room returns how many of the lane's jobs its limits allow to start.
func (v *laneView) room(most int) int {
	for _, limit := range v.Limits {
		most = min(most, limit.Room())
	}
	return most
}

// empty reports whether there is nothing to take from the lane.
func (v *laneView) empty() bool { return v.All && len(v.Keys) == 0 }

// addView prepares a lane for reading.
func (c *claimer) addView(lane *openLane) *laneView {
	view := &laneView{Lane: dispatch.Lane{ID: lane.ID, Kind: lane.Kind, From: dispatch.Front}, names: lane.LaneKey}
	c.addLimits(view, lane)
	view.Share = c.fair.Share(lane.LaneKey)
	c.views[lane.ID] = view
	c.open = append(c.open, view)
	return view
}

// look reads limit of the first jobs of lanes, unless their limits are used up.
func (c *claimer) look(ctx context.Context, views []*laneView, limit int) error {
	var limits []int32
	for _, view := range views {
		limits = append(limits, view.limitIDs...)
	}
	if err := c.estimate(ctx, limits); err != nil {
		return err
	}
	var lanes []*laneView
	for _, view := range views {
		if view.room(1) > 0 {
			view.limit = limit
			lanes = append(lanes, view)
		}
	}
	return c.readHeads(ctx, lanes)
}

// readHeads reads the first rows of lanes, as many as their views ask for, without
// those that were chosen before.
func (c *claimer) readHeads(ctx context.Context, views []*laneView) error {
	var short, long []*laneView
	for _, view := range views {
		view.Keys, view.read = view.Keys[:0], true
		if view.limit == frontSize {
			short = append(short, view)
		} else {
			long = append(long, view)
		}
	}
	if err := c.readShort(ctx, short); err != nil {
		return err
	}
	return c.readLong(ctx, long)
}

func (c *claimer) readShort(ctx context.Context, views []*laneView) error {
	lanes := make([]int32, len(views))
	for i, view := range views {
		lanes[i] = view.ID
	}
	return c.readFronts(ctx, c.sql.LaneKeys, frontSize, lanes, func(i int, keys []dispatch.Key) {
		for _, key := range keys {
			c.see(views[i], key)
		}
		views[i].All = len(keys) < frontSize
	})
}

func (c *claimer) readLong(ctx context.Context, views []*laneView) error {
	for chunk := range slices.Chunk(views, lanesPerQuestion) {
		questions := make([]string, len(chunk))
		read := make(map[int32]int, len(chunk))
		for i, view := range chunk {
			questions[i] = fill(c.sql.LaneHeads, "lane_id", decimal(view.ID), "solo", c.solo(), "limit", decimal(view.limit))
		}
		err := c.each(ctx, func(row *sql.Rows) error {
			var lane int32
			var key dispatch.Key
			if err := row.Scan(&lane, &key.Turn, &key.StartBy, &key.ID); err != nil {
				return err
			}
			read[lane]++
			c.see(c.views[lane], key)
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

// see adds a job to a lane's view, unless it was chosen before.
func (c *claimer) see(view *laneView, key dispatch.Key) {
	if _, chosen := c.avoid[key.ID]; !chosen {
		view.Keys = append(view.Keys, key)
	}
}
