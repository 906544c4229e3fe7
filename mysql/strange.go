package mysql

import (
	"context"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// viewStrangers adds the lanes under limits that this claim does not serve but
// other nodes can: to their jobs it leaves what limits entitle these to.
func (c *claiming) viewStrangers(ctx context.Context) error {
	all := c.lanes.Known()
	if c.Solo || len(c.quotas) == 0 || len(all) == len(c.lanes.Served(c.Scope)) {
		return nil
	}
	nodes, err := readNodes(ctx, c.tx, c.sql.Nodes)
	if err != nil {
		return err
	}
	now, err := c.clock(ctx)
	if err != nil {
		return err
	}
	strangers := sqlstore.NewStrangers(c.Node, c.Scope, nodes, sqlstore.Time(now))
	if !strangers.Any() {
		return nil
	}
	var strange []sqlstore.Lane
	for _, lane := range all {
		if strangers.Of(lane.LaneKey) != nil && !c.rules.Paused(lane.LaneKey) && len(c.rules.Of(lane.LaneKey)) > 0 {
			strange = append(strange, lane)
		}
	}
	if strange, err = c.busyLanes(ctx, strange); err != nil {
		return err
	}
	for _, lane := range strange {
		c.addView(lane).Others = strangers.Of(lane.LaneKey)
	}
	return nil
}

// anyOwn tells whether there is a lane left that the claim may take from.
func (c *claiming) anyOwn() bool {
	for _, view := range c.open {
		if view.Others == nil {
			return true
		}
	}
	return false
}
