package mysql

import (
	"context"
	"database/sql"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/dispatch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// busyPause is how soon a node claims again if its claim left jobs to another claim
// that had locked their limits.
const busyPause = 5 * time.Millisecond

// claimLimit is a limit that a claim counts against.
type claimLimit struct {
	dispatch.Limit
	tenants    bool  // whether it belongs to a tenant
	refilledAt int64 // when the tokens were counted
	writtenAt  int64 // when a claim last changed it; zero: unknown
	lock       lockState
	changed    bool
}

// lockState is what a claim knows of a limit.
type lockState int

const (
	isUnread    lockState = iota // its use was not read
	isEstimated                  // its use is a hint
	isLocked                     // its use is exact
	isRefused                    // another claim has locked it
)

// addLimits puts a lane under its limits.
func (c *claimer) addLimits(view *laneView, lane *openLane) {
	view.limitIDs = lane.limitIDs
	for _, id := range view.limitIDs {
		q := c.limitByID(id)
		view.Limits = append(view.Limits, &q.Limit)
		if id == lane.tenant {
			view.Tenant = &q.Limit
		}
	}
}

// limitByID returns a limit of the claim.
func (c *claimer) limitByID(id int32) *claimLimit {
	q := c.limits[id]
	if q == nil {
		limit := c.config.ByID[id]
		q = &claimLimit{Limit: sqlstore.LimitOf(limit), tenants: limit.Limit.Scope == fairlead.LimitTenant}
		c.limits[id] = q
	}
	return q
}

// estimate reads, without a lock, what those limits leave that were not read yet.
func (c *claimer) estimate(ctx context.Context, ids []int32) error {
	unread := map[int32]struct{}{}
	for _, id := range ids {
		if c.limitByID(id).lock == isUnread {
			unread[id] = struct{}{}
		}
	}
	return c.readUse(ctx, c.sql.LimitUse, sortedIDs(maps.Keys(unread)), isEstimated)
}

// full reports whether a lane is known to be under a cap that is used up.
func (c *claimer) full(lane *openLane) bool {
	return slices.ContainsFunc(lane.limitIDs, func(id int32) bool {
		q := c.limits[id]
		return q != nil && q.lock != isUnread && q.Full()
	})
}

// readUse reads the use of limits. The statement may lock them.
func (c *claimer) readUse(ctx context.Context, statement string, ids []int64, lock lockState) error {
	return c.eachOf(ctx, func(row *sql.Rows) error {
		var id int32
		var used int
		var tokens float64
		var refilledAt, now int64
		if err := row.Scan(&id, &used, &tokens, &refilledAt, &now); err != nil {
			return err
		}
		q := c.limits[id]
		if q.writtenAt != 0 && q.writtenAt != refilledAt {
			c.stale = true
		}
		q.Used, q.Tokens, q.refilledAt, q.writtenAt, q.lock = used, tokens, now, refilledAt, lock
		q.Refill(micros(now - refilledAt))
		return nil
	}, statement, ids)
}

// lockLimits locks the limits of the lanes that were chosen from, so that what they
// leave is exact. The claim takes nothing from other lanes with limits: it leaves those
// that another claim has locked to that claim. The rest stays in the choice, because where
// tenants share starts, the lanes that a claim does not take from decide whose turn it is.
//
// It runs once, before any job is locked. The claim does not wait for limits of
// tenants, which are many, unless it would return no job. It waits for the other limits
// in order of their ids. So claims never wait for each other in a circle. MariaDB
// treats skipping a row as waiting for it, for a moment: so the claim skips nothing
// once it has locked something that others wait for.
func (c *claimer) lockLimits(ctx context.Context, picks []dispatch.Pick) error {
	c.limited = true
	tenants := c.limitsOf(picks, true)
	if err := c.lockLimitsByID(ctx, tenants, skipLocked); err != nil {
		return err
	}
	if first := c.refused(picks[0].Lane); len(first) == 1 && c.nothingLocked() {
		if err := c.lockLimitsByID(ctx, first, waitForLock); err != nil {
			return err
		}
	}
	others := c.limitsOf(picks, false)
	if err := c.lockLimitsByID(ctx, others, waitForLock); err != nil {
		return err
	}
	c.leave(func(view *laneView) bool { return view.Others == nil && len(c.refused(&view.Lane)) > 0 })
	return c.fold(ctx)
}

// leaveUnlocked ends the choice among lanes whose limits are not locked, if one of them was
// chosen from. Then others were faster: what limits leave, or what lanes hold, is not what the
// claim has chosen by which limits to lock.
func (c *claimer) leaveUnlocked(picks []dispatch.Pick) (left bool) {
	if !slices.ContainsFunc(picks, func(pick dispatch.Pick) bool { return !c.allLocked(pick.Lane) }) {
		return false
	}
	c.leave(func(view *laneView) bool { return c.unlocked(view) && view.room(1) > 0 })
	return true
}

// leave removes lanes from the choice.
func (c *claimer) leave(lanes func(*laneView) bool) {
	c.open = slices.DeleteFunc(c.open, func(view *laneView) bool {
		left := lanes(view)
		c.missed = c.missed || left && !view.empty()
		return left
	})
}

// unlocked reports whether limits of a lane are not locked. What is left to other nodes need
// not be exact.
func (c *claimer) unlocked(view *laneView) bool {
	return view.Others == nil && !c.allLocked(&view.Lane)
}

// How lock_limits treats rows that other transactions have locked.
const (
	waitForLock = ""
	skipLocked  = "skip locked"
)

// limitsOf returns the limits of chosen lanes: those of tenants, or the others. It
// omits lanes that are left to another claim.
func (c *claimer) limitsOf(picks []dispatch.Pick, tenants bool) []int64 {
	wanted := map[int32]struct{}{}
	for _, pick := range picks {
		if len(c.refused(pick.Lane)) > 0 {
			continue
		}
		for _, limit := range pick.Lane.Limits {
			if c.limits[limit.ID].tenants == tenants {
				wanted[limit.ID] = struct{}{}
			}
		}
	}
	return sortedIDs(maps.Keys(wanted))
}

// refused returns the limits of a lane that another claim has locked.
func (c *claimer) refused(lane *dispatch.Lane) (ids []int64) {
	for _, limit := range lane.Limits {
		if c.limits[limit.ID].lock == isRefused {
			ids = append(ids, int64(limit.ID))
		}
	}
	return ids
}

func (c *claimer) allLocked(lane *dispatch.Lane) bool {
	return !slices.ContainsFunc(lane.Limits, func(limit *dispatch.Limit) bool { return c.limits[limit.ID].lock != isLocked })
}

func (c *claimer) nothingLocked() bool { return len(c.lockedIDs()) == 0 }

func (c *claimer) lockedIDs() []int64 {
	var ids []int64
	for id, q := range c.limits {
		if q.lock == isLocked {
			ids = append(ids, int64(id))
		}
	}
	return ids
}

// lockLimitsByID locks limits, except those that other claims have locked if how skips
// them.
func (c *claimer) lockLimitsByID(ctx context.Context, ids []int64, how string) error {
	for _, id := range ids {
		c.limits[int32(id)].lock = isRefused
	}
	return c.readUse(ctx, fill(c.sql.LockLimits, "wait", how), ids, isLocked)
}

// fold subtracts the slots given back from the locked limits.
func (c *claimer) fold(ctx context.Context) error {
	return c.eachOf(ctx, func(row *sql.Rows) error {
		var id int64
		var limit int32
		var n int
		if err := row.Scan(&id, &limit, &n); err != nil {
			return err
		}
		q := c.limits[limit]
		q.Used -= n
		q.changed = true
		c.deltas = append(c.deltas, id)
		return nil
	}, c.sql.DeltasOf, c.lockedIDs())
}

// spend counts a job of a lane against its limits.
func (c *claimer) spend(lane int32) {
	for _, limit := range c.views[lane].Limits {
		limit.Used++
		if limit.Rate > 0 {
			limit.Tokens--
		}
		c.limits[limit.ID].changed = true
	}
}

// keepLimits writes the locked limits back.
func (c *claimer) keepLimits(ctx context.Context) error {
	kept, n := tuples{json: true}, 0
	for id, q := range c.limits {
		if q.changed {
			kept.add().ints(int64(id), int64(q.Used)).float(q.Tokens).int(q.refilledAt).end()
			n++
		}
	}
	hit, err := c.execRows(ctx, c.sql.KeepLimits, &kept)
	if err := checkHits(n, hit, err); err != nil {
		return err
	}
	forgotten, err := c.execIDs(ctx, c.sql.ForgetDeltas, c.deltas)
	return checkHits(len(c.deltas), forgotten, err)
}

// lookAgain sets when to claim again, if there is room left: soon if jobs were left to
// another claim, or when a rate allows a job to start.
func (c *claimer) lookAgain() {
	if c.rooms.left <= 0 {
		return
	}
	if c.missed {
		c.wakes.await(busyPause)
	}
	if len(c.limits) > 0 {
		c.wakes.await(dispatch.NextToken(lanesOf(maps.Values(c.views)), nil))
	}
}

func sortedIDs(ids iter.Seq[int32]) []int64 {
	var sorted []int64
	for id := range ids {
		sorted = append(sorted, int64(id))
	}
	slices.Sort(sorted)
	return sorted
}
