package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// claimTries bounds how often one Claim looks again: because the rules were
// not those it knew, or because what it had chosen was locked by others.
const claimTries = 5

const claimColumns = 18 // of a row that a claim returns

// Claim leases ready jobs to a live node.
func (s *Store) Claim(ctx context.Context, claim driver.Claim) ([]*fairlead.Job, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	if err := s.refreshLanes(ctx, laneStaleness); err != nil {
		return nil, fmt.Errorf("claim: %w", err)
	}
	token, err := s.nodes.Of(ctx, claim.Node)
	if err != nil {
		return nil, fmt.Errorf("claim: %w", err)
	}
	c := claimer{Store: s, claim: claim, nodeToken: token, left: claim.Max, locked: map[int64]bool{}}
	for try, more := 0, true; more && try < claimTries; try++ {
		if more, err = c.next(ctx); err != nil {
			if more, err = c.renewed(ctx, err); more {
				continue
			}
			if len(c.jobs) > 0 {
				break // these are ours, whatever became of the rest
			}
			return nil, fmt.Errorf("claim: %w", err)
		}
	}
	slices.SortFunc(c.jobs, byOrder)
	return c.jobs, nil
}

// renewed learns which lanes there are if a claim has found that some are not as they
// were known. It reports whether to claim again.
func (c *claimer) renewed(ctx context.Context, err error) (bool, error) {
	renewed, err := c.renew(ctx, err)
	if renewed {
		err = c.refreshLanes(ctx, 0)
	}
	return renewed && err == nil, err
}

func byOrder(a, b *fairlead.Job) int {
	return cmp.Or(cmp.Compare(b.Priority, a.Priority), a.StartBy.Compare(b.StartBy), cmp.Compare(a.ID, b.ID))
}

// claimer is one Claim on its way.
type claimer struct {
	*Store
	claim     driver.Claim
	nodeToken string
	asked     map[int32]sqlstore.LaneKey // the lanes of the statement that is under way
	left      int                        // how many to claim yet
	jobs      []*fairlead.Job            // claimed so far
	laneIDs   []int32                    // theirs, in step

	patient bool           // waits for tenants that other claims are busy with
	locked  map[int64]bool // jobs under limits that others were seen to have locked
}

// next claims once. It reports whether there may be more to be had at once.
func (c *claimer) next(ctx context.Context) (more bool, err error) {
	known, err := c.knownRules(ctx)
	if err != nil {
		return false, err
	}
	all := known.openLanes(c.claim.Scope, c.lanes.Lanes)
	if c.claim.Solo && len(all.lanes) > manyLanes {
		if all.lanes, err = c.suspected(ctx, all.lanes); err != nil {
			return false, err
		}
	}
	if all.limited || len(all.lanes) > manyLanes && !c.claim.Solo {
		return c.claimLimited(ctx, known, all)
	}
	open := c.withRoom(all.lanes)
	before, asked, begun := len(c.jobs), c.left, time.Now()
	if len(open) == 1 && len(open[0].outset.marks) <= 1 {
		err = c.claimLane(ctx, known, open[0])
		asked = open[0].room
	}
	// A lane with a mark may still have jobs of higher priority.
	if err == nil && len(c.jobs) == before && (len(open) > 1 || len(open) == 1 && !open[0].outset.whole()) {
		more, err = c.claimMerged(ctx, known, open)
	}
	if err != nil {
		return false, err
	}
	got, took, changed := len(c.jobs)-before, time.Since(begun), false
	if got == 0 {
		changed, err = c.check(ctx, known)
	}
	if err != nil || changed { // then nothing was looked at
		return changed && c.left > 0, err
	}
	c.noteTakes(open, before, asked, more, took)
	return more && c.left > 0, nil
}

// withRoom lists lanes that there is room for, and where a claim has to look.
func (c *claimer) withRoom(lanes []openLane) []openLane {
	open, now := make([]openLane, 0, len(lanes)), time.Now()
	for _, lane := range lanes {
		if lane.room = c.room(lane.Kind); lane.room > 0 {
			lane.outset = c.laneCursors.begin(cursorLane{lane.id, c.claim.Solo}, now)
			open = append(open, lane)
		}
	}
	return open
}

// room is how many jobs of a kind may be claimed yet.
func (c *claimer) room(kind string) int {
	room, bounded := c.claim.Rooms[kind]
	if !bounded {
		return c.left
	}
	for _, job := range c.jobs {
		if job.Kind == kind {
			room--
		}
	}
	return min(room, c.left)
}

// claimLane claims from one lane, where nothing needs to be merged.
func (c *claimer) claimLane(ctx context.Context, known *rules, lane openLane) error {
	from := front
	if !lane.outset.whole() {
		from = lane.outset.marks[0]
	}
	args := append(c.commonArgs(known, lane.room), lane.id, from.turn, from.startBy, from.id, c.laneLock, c.nodeToken)
	args = append(args, c.nameLanes(map[int32]sqlstore.LaneKey{lane.id: lane.LaneKey})...)
	return c.lease(ctx, call{sql: c.sql.ClaimLane, args: args, each: c.reader(0)})
}

func (c *claimer) commonArgs(known *rules, limit int) []any {
	return []any{limit, c.solo(), int64(c.claim.Node), known.Version}
}

// nameLanes notes the lanes of a statement, and gives them as its arguments: it compares
// their names.
func (c *claimer) nameLanes(lanes map[int32]sqlstore.LaneKey) []any {
	c.asked = lanes
	names := newLaneGuard(len(lanes))
	for id, key := range lanes {
		names.add(id, key)
	}
	return names.args()
}

// solo is ready.solo of the jobs to be claimed.
func (c *claimer) solo() int16 {
	if c.claim.Solo {
		return 1
	}
	return 0
}

// lease runs the statement of a claim between changes of the rules.
func (c *claimer) lease(ctx context.Context, claim call) error {
	before := len(c.jobs)
	claim.restart = func() { c.forget(before) }
	err := c.runPinned(ctx, call{sql: c.sql.ShareRules, args: []any{c.rulesLock}}, claim)
	if err != nil {
		claim.restart()
	}
	for _, job := range c.jobs[before:] {
		raise(&c.lastFence, job.Fence)
	}
	c.left -= len(c.jobs) - before
	return err
}

// forget drops the jobs of a try that was undone.
func (c *claimer) forget(before int) { c.jobs, c.laneIDs = c.jobs[:before], c.laneIDs[:before] }

// reader makes a function that adds rows of a claim statement to the jobs,
// skipping the first columns.
func (c *claimer) reader(skip int) func(sqlstore.Scanner) error {
	var (
		lane                                 int32
		turn, flags                          int16
		started, startBy, notBefore, created int64
		key, trace                           *string
		job                                  *fairlead.Job
		id, fence                            int64
		attempt, failures, crashes           int
		policy, args, memo, progress         []byte
	)
	into := append(make([]any, skip), &id, &fence, &started, &lane, &attempt, &failures, &crashes,
		&turn, &startBy, &notBefore, &created, &flags, &key, &policy, &trace, &args, &memo, &progress)
	return func(row sqlstore.Scanner) error {
		if err := row.Scan(into...); err != nil {
			return err
		}
		names := c.asked[lane]
		job = &fairlead.Job{
			ID: id, Kind: names.Kind, Args: args, Queue: names.Queue, Tenant: names.Tenant, Priority: -int(turn),
			NotBefore: sqlstore.Time(notBefore), StartBy: sqlstore.Time(startBy),
			Status: fairlead.Status{
				State: fairlead.Running, Attempt: attempt, Failures: failures, Crashes: crashes, Fence: fence,
				Node: c.claim.Node, Solo: c.claim.Solo, CreatedAt: sqlstore.Time(created), StartedAt: sqlstore.Time(started),
				Memo: memo, Progress: progress,
			},
		}
		if key != nil {
			job.Key = *key
		}
		if trace != nil {
			job.Trace = *trace
		}
		c.jobs, c.laneIDs = append(c.jobs, job), append(c.laneIDs, lane)
		return sqlstore.SetPolicy(job, flags, policy)
	}
}
