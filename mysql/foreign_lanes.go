package mysql

import (
	"context"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// viewForeignLanes adds the lanes under limits that this claim does not serve but other
// nodes do: the claim leaves to their jobs what the limits entitle these to.
func (c *claimer) viewForeignLanes(ctx context.Context, lanes []openLane) error {
	if c.Solo || len(c.limits) == 0 || len(c.lanes.Known()) == len(c.lanes.Served(c.Scope)) {
		return nil
	}
	if err := c.readOtherNodes(ctx); err != nil || !c.otherNodes.Any() {
		return err
	}
	var foreign []*openLane
	for i := range lanes {
		if c.otherNodes.Of(lanes[i].LaneKey) != nil {
			foreign = append(foreign, &lanes[i])
		}
	}
	foreign, err := c.busyLanes(ctx, foreign)
	if err != nil {
		return err
	}
	for _, lane := range foreign {
		c.addView(lane).Others = c.otherNodes.Of(lane.LaneKey)
	}
	return nil
}

// readOtherNodes reads the other nodes to which the claim leaves jobs.
func (c *claimer) readOtherNodes(ctx context.Context) error {
	nodes, err := readNodes(ctx, c.tx, c.sql.Nodes)
	if err != nil {
		return err
	}
	now, err := c.clock(ctx)
	c.otherNodes = sqlstore.NewOtherNodes(c.Node, c.Scope, nodes, sqlstore.Time(now))
	return err
}

// anyOwn reports whether there is a lane left that the claim may take from.
func (c *claimer) anyOwn() bool {
	if !c.laneQueue.none() {
		return true
	}
	for _, view := range c.open {
		if view.Others == nil {
			return true
		}
	}
	return false
}
