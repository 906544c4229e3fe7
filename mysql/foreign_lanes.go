package mysql

import (
	"context"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// viewForeignLanes adds the lanes under limits that this claim does not serve but
// other nodes can: to their jobs it leaves what limits entitle these to.
func (c *claimer) viewForeignLanes(ctx context.Context, lanes []openLane) error {
	if c.Solo || len(c.quotas) == 0 || len(c.lanes.Known()) == len(c.lanes.Served(c.Scope)) {
		return nil
	}
	if err := c.readOtherNodes(ctx); err != nil || !c.strangers.Any() {
		return err
	}
	var strange []*openLane
	for i := range lanes {
		if c.strangers.Of(lanes[i].LaneKey) != nil {
			strange = append(strange, &lanes[i])
		}
	}
	strange, err := c.busyLanes(ctx, strange)
	if err != nil {
		return err
	}
	for _, lane := range strange {
		c.addView(lane).Others = c.strangers.Of(lane.LaneKey)
	}
	return nil
}

// readOtherNodes finds out which other nodes there are to leave something to.
func (c *claimer) readOtherNodes(ctx context.Context) error {
	nodes, err := readNodes(ctx, c.tx, c.sql.Nodes)
	if err != nil {
		return err
	}
	now, err := c.clock(ctx)
	c.strangers = sqlstore.NewStrangers(c.Node, c.Scope, nodes, sqlstore.Time(now))
	return err
}

// anyOwn tells whether there is a lane left that the claim may take from.
func (c *claimer) anyOwn() bool {
	if !c.line.none() {
		return true
	}
	for _, view := range c.open {
		if view.Others == nil {
			return true
		}
	}
	return false
}
