package mysql

import (
	"context"
	"database/sql"
	"iter"
	"slices"

	"github.com/fairlead-io/fairlead/internal/dispatch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

const (
	// severalLanes is the number of lanes from which on it pays to ask first which of
	// them hold jobs.
	severalLanes = 32
	// chooseRounds bounds how often a claim chooses again because other claims were
	// faster.
	chooseRounds = 8
)

// take locks the first jobs of the lanes, as far as their limits allow.
//
// One lane is simple: the server locks the first rows that are free. Over several lanes
// the server would lock as many rows of each lane as are wanted in all, and hide jobs
// from other claims that this one does not take. So the claim chooses first and locks
// what it chose. It chooses again in place of jobs that other transactions had locked
// or taken meanwhile, unless these come before what it has. Under limits, it first
// chooses by an estimate of what they leave, locks the limits of the lanes it chose
// from, and chooses again by what they really leave.
func (c *claimer) take(ctx context.Context) error {
	c.avoid, c.views, c.limits = map[int64]struct{}{}, map[int32]*laneView{}, map[int32]*claimLimit{}
	open := c.config.openLanes(c.Scope, c.lanes)
	if open.many(c.Solo) {
		return c.takeFromMany(ctx, open)
	}
	lanes := make([]*openLane, 0, len(open.own))
	for i := range open.own {
		if lane := &open.own[i]; c.rooms.of(lane.Kind) > 0 {
			lanes = append(lanes, lane)
		}
	}
	lanes, err := c.busyLanes(ctx, lanes)
	if err != nil {
		return err
	}
	for _, lane := range lanes {
		c.addView(lane)
	}
	if err := c.viewForeignLanes(ctx, open.foreign); err != nil {
		return err
	}
	if len(c.open) > 1 && c.rooms.left > 0 {
		if err := c.look(ctx, c.open, max(leastPerLane, 2*c.rooms.left/len(c.open))); err != nil {
			return err
		}
	}
	return c.takeChosen(ctx)
}

// takeChosen chooses among the lanes that are viewed or queued, and locks the chosen jobs.
// Each round ends in one of these ways:
//
//   - Only one lane is left: the server locks its first free jobs.
//   - Nothing is chosen: the claim is complete.
//   - Limits are not locked yet: lock those of the chosen lanes, and choose again. Until then
//     their use was an estimate, and other claims may have changed it.
//   - The claim could not lock the limits of a chosen lane: leave such lanes to the claims that
//     have locked them, and choose again.
//   - Otherwise lock the chosen jobs. Reading them took no locks, so other transactions may
//     have taken some meanwhile. If so, choose others in their place.
//
// A claim that runs out of rounds keeps its jobs, and looks again soon.
func (c *claimer) takeChosen(ctx context.Context) error {
	for range chooseRounds {
		if !c.anyOwn() || c.rooms.left <= 0 {
			return nil
		}
		if c.alone() {
			return c.takeFirst(ctx, c.open[0])
		}
		picks, err := c.choose(ctx)
		if err != nil || len(picks) == 0 {
			return err
		}
		if c.alone() {
			continue
		}
		if !c.limited && len(c.limits) > 0 {
			if err := c.limit(ctx, picks); err != nil {
				return err
			}
			continue
		}
		if c.leaveUnlocked(picks) {
			continue
		}
		later := c.afterTaken(picks)
		if len(later) == 0 {
			break
		}
		if all, err := c.lockChosen(ctx, later); err != nil || all && len(later) == len(picks) {
			return err
		}
	}
	c.missed = true
	return nil
}

// afterTaken sorts what was chosen and returns it if all of it comes after what is locked
// already: all claims lock in this order, see claim_chosen. Otherwise it returns what can
// be taken without the rest.
func (c *claimer) afterTaken(picks []dispatch.Pick) []dispatch.Pick {
	slices.SortFunc(picks, func(a, b dispatch.Pick) int { return a.Compare(b.Key) })
	last := dispatch.Front
	for _, t := range c.taken {
		if key := t.key(); key.Compare(last) > 0 {
			last = key
		}
	}
	n, _ := slices.BinarySearchFunc(picks, last, func(pick dispatch.Pick, key dispatch.Key) int { return pick.Compare(key) })
	return withoutParties(picks, n)
}

// alone reports whether there is exactly one lane to take from, so that the server can
// find its first jobs. One whose limits are not locked only stands in the choice.
func (c *claimer) alone() bool {
	return len(c.open) == 1 && len(c.avoid) == 0 && c.laneQueue.none() && (!c.limited || !c.unlocked(c.open[0]))
}

// busyLanes removes lanes that hold no jobs, if there are so many lanes that reading
// each would cost more.
func (c *claimer) busyLanes(ctx context.Context, lanes []*openLane) ([]*openLane, error) {
	if len(lanes) < severalLanes {
		return lanes, nil
	}
	holding, err := c.holdingLanes(ctx)
	return slices.DeleteFunc(lanes, func(lane *openLane) bool {
		_, holds := holding[lane.ID]
		return !holds
	}), err
}

// holdingLanes returns all lanes that hold ready jobs, suspects included.
func (c *claimer) holdingLanes(ctx context.Context) (map[int32]struct{}, error) {
	holding := map[int32]struct{}{}
	err := c.each(ctx, func(row *sql.Rows) error {
		var lane int32
		err := row.Scan(&lane)
		holding[lane] = struct{}{}
		return err
	}, c.sql.BusyLanes)
	return holding, err
}

// limit locks the limits of the lanes that were chosen from. If another claim used them
// meanwhile, it has taken what was seen at the front of these lanes.
func (c *claimer) limit(ctx context.Context, picks []dispatch.Pick) error {
	if err := c.lockLimits(ctx, picks); err != nil || !c.stale {
		return err
	}
	return c.readHeads(ctx, slices.DeleteFunc(slices.Clone(c.open), c.unlocked))
}

// takeFirst locks the first free jobs of the only lane.
func (c *claimer) takeFirst(ctx context.Context, view *laneView) error {
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
	err := c.lockFirst(ctx, view, room)
	view.Keys, view.All, view.lost = nil, len(c.taken)-before < room, true // the server skipped jobs that other transactions have locked
	return err
}

// choose returns the first jobs over all lanes, in order, as many as there is room for.
// It removes lanes without jobs from the choice.
func (c *claimer) choose(ctx context.Context) ([]dispatch.Pick, error) {
	for {
		rests := c.rests()
		lanes := append(lanesOf(slices.Values(c.open)), rests...)
		picks, toRead := dispatch.Choose(lanes, dispatch.Ask{Max: c.rooms.left, Rooms: c.rooms.kinds})
		if len(toRead) == 0 {
			c.open = slices.DeleteFunc(c.open, (*laneView).empty)
			return picks, nil
		}
		if err := c.readMore(ctx, toRead, rests); err != nil {
			return nil, err
		}
	}
}

// readMore reads more jobs of the lanes that the choice cannot continue without. If one
// of them stands for others, it considers more lanes.
func (c *claimer) readMore(ctx context.Context, toRead, rests []*dispatch.Lane) error {
	var views []*laneView
	var more []*dispatch.Lane
	for _, lane := range toRead {
		if slices.Contains(rests, lane) {
			more = append(more, lane)
			continue
		}
		view := c.views[lane.ID]
		view.limit = max(leastPerLane, laneGrowth*view.limit)
		views = append(views, view)
	}
	if err := c.readHeads(ctx, views); err != nil || len(more) == 0 {
		return err
	}
	if c.limited { // it is too late to lock their limits
		c.leaveRests()
		return nil
	}
	c.laneQueue.setAside(more)
	return c.consider(ctx, c.laneQueue.considered)
}

func lanesOf(views iter.Seq[*laneView]) []*dispatch.Lane {
	var lanes []*dispatch.Lane
	for view := range views {
		lanes = append(lanes, &view.Lane)
	}
	return lanes
}

// lockChosen locks the chosen jobs that are still free, and reports whether these were
// all. It avoids all of them from now on.
func (c *claimer) lockChosen(ctx context.Context, picks []dispatch.Pick) (all bool, err error) {
	before := len(c.taken)
	keys := tuples{json: true}
	for _, pick := range picks {
		keys.add().ints(int64(pick.Lane.ID), int64(pick.Turn), pick.StartBy, pick.ID).end()
		c.avoid[pick.ID] = struct{}{}
	}
	c.names = c.namesOf(picks)
	statement := fill(c.sql.ClaimChosen, "solo", c.solo(), "count", decimal(len(c.names)), "chosen", sameLanes(c.names))
	if err := c.eachRows(ctx, c.note, statement, &keys); err != nil {
		return false, err
	}
	for _, view := range c.open {
		view.Keys = slices.DeleteFunc(view.Keys, func(key dispatch.Key) bool {
			_, chosen := c.avoid[key.ID]
			return chosen
		})
	}
	if all = len(c.taken)-before == len(picks); !all {
		c.noteLost(picks, c.taken[before:])
		c.laneQueue.restore()
	}
	return all, nil
}

// namesOf returns the lanes of chosen jobs as this process knows them.
func (c *claimer) namesOf(picks []dispatch.Pick) []sqlstore.Lane {
	seen := map[int32]struct{}{}
	var lanes []sqlstore.Lane
	for _, pick := range picks {
		if _, has := seen[pick.Lane.ID]; !has {
			seen[pick.Lane.ID] = struct{}{}
			lanes = append(lanes, sqlstore.Lane{ID: pick.Lane.ID, LaneKey: c.views[pick.Lane.ID].names})
		}
	}
	return lanes
}

// noteLost records the lanes of chosen jobs that other transactions have locked or
// taken.
func (c *claimer) noteLost(picks []dispatch.Pick, got []*taken) {
	ours := make(map[int64]struct{}, len(got))
	for _, t := range got {
		ours[t.job.ID] = struct{}{}
	}
	for _, pick := range picks {
		if _, had := ours[pick.ID]; !had {
			c.views[pick.Lane.ID].lost = true
		}
	}
}
