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

// claimTries bounds how often one Claim tries again, because the limits had changed or
// because other transactions had locked the jobs it chose.
const claimTries = 5

const claimColumns = 18 // of a row that a claim returns

// Claim leases ready jobs to a live node. It returns ErrLeaseLost if the node is not live.
//
// It refreshes what the process caches of lanes, nodes and shared starts, and then claims in
// one or more tries, see next. Each try is a transaction that leases jobs when it commits. A
// later try adds to the jobs of the earlier ones, so after an error these are returned
// nevertheless: they are leased to the node.
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
	if err := s.fair.Share(ctx, claim.Node); err != nil {
		return nil, fmt.Errorf("claim: %w", err)
	}
	c := claimer{Store: s, claim: claim, nodeToken: token, left: claim.Max, bytes: sqlstore.ClaimBytes{Most: claim.Bytes}, locked: map[int64]bool{}}
	for try, more := 0, true; more && try < claimTries; try++ {
		if more, err = c.next(ctx); err != nil {
			if more, err = c.renewed(ctx, err); more {
				continue
			}
			if len(c.jobs) > 0 {
				break // these jobs are leased to the node, so return them despite the error
			}
			return nil, fmt.Errorf("claim: %w", err)
		}
	}
	s.fair.ShareFirst(ctx, claim.Node)
	slices.SortFunc(c.jobs, byOrder)
	return c.jobs, nil
}

// renewed reads the lanes again if the error reports that some of them differ from the
// cached ones. It reports whether to claim again.
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

// claimer is the state of one call of Claim.
type claimer struct {
	*Store
	claim     driver.Claim
	nodeToken string
	asked     map[int32]sqlstore.LaneKey // the lanes of the statement in progress
	left      int                        // how many jobs may still be claimed
	jobs      []*fairlead.Job            // claimed so far
	laneIDs   []int32                    // the lanes of jobs, in the same order
	bytes     sqlstore.ClaimBytes
	fair      *fairMerge // what tenants share by weight, if the database chooses; nil: nothing

	patient bool           // waits for tenants' limits that other claims have locked
	locked  map[int64]bool // jobs under limits that other transactions were seen to have locked
}

// next makes one attempt. It reports whether another attempt may find more jobs at
// once.
//
// There are three ways to claim, and next takes the cheapest that is exact:
//
//   - claimLimited, if limits apply, if there are very many lanes, or if tenants share starts
//     by weight and the database cannot choose, see sharesOneScope. The process reads the
//     lanes, chooses, and leases.
//   - claimLane, if there is one lane. One statement takes its first jobs.
//   - claimMerged, if there are a few lanes, or the only lane had no job after its cursor. One
//     statement merges the lanes in the database.
//
// The last two send the version of the limits with which the lanes were chosen, and lease
// nothing if it has changed. A pause that was committed before the statement began is
// therefore obeyed. An attempt without jobs does not know whether there are none, the limits
// have changed, or the node is dead, so check asks.
func (c *claimer) next(ctx context.Context) (more bool, err error) {
	known, err := c.knownLimits(ctx)
	if err != nil {
		return false, err
	}
	all := known.openLanes(c.claim.Scope, c.lanes.Lanes)
	if c.claim.Solo && len(all.lanes) > manyLanes {
		if all.lanes, err = c.suspected(ctx, all.lanes); err != nil {
			return false, err
		}
	}
	if all.limited || all.fair && !c.sharesOneScope(all) || len(all.lanes) > manyLanes && !c.claim.Solo {
		return c.claimLimited(ctx, known, all)
	}
	open := c.withRoom(all.lanes)
	c.fair = c.newFairMerge(known, all.fair, open)
	before, asked, begun := len(c.jobs), c.left, time.Now()
	if len(open) == 1 && len(open[0].outset.cursors) <= 1 {
		err = c.claimLane(ctx, known, open[0])
		asked = open[0].room
	}
	// A lane with a cursor may still have jobs of higher priority.
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
	if err != nil || changed { // if the limits changed, nothing was read
		return changed && c.left > 0, err
	}
	c.noteTakes(open, before, asked, more, took)
	c.fair.close(&c.merges, c.jobs[before:])
	return more && c.left > 0, nil
}

// withRoom returns the lanes of kinds that have room, each with the position where the
// claim begins.
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

// room returns how many more jobs of a kind may be claimed.
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

// claimLane claims from a single lane, so nothing needs to be merged.
func (c *claimer) claimLane(ctx context.Context, known *limitConfig, lane openLane) error {
	from := front
	if !lane.outset.whole() {
		from = lane.outset.cursors[0]
	}
	args := append(c.commonArgs(known, lane.room), lane.id, from.turn, from.startBy, from.id, c.laneLock, c.nodeToken)
	args = append(args, c.nameLanes(map[int32]sqlstore.LaneKey{lane.id: lane.LaneKey})...)
	return c.lease(ctx, call{sql: c.sql.ClaimLane, args: args, each: c.reader(0)})
}

func (c *claimer) commonArgs(known *limitConfig, limit int) []any {
	return []any{limit, c.solo(), int64(c.claim.Node), known.Version}
}

// nameLanes remembers the lanes of a statement and returns them as its arguments. The
// statement compares their names with the table.
func (c *claimer) nameLanes(lanes map[int32]sqlstore.LaneKey) []any {
	c.asked = lanes
	names := newLaneGuard(len(lanes))
	for id, key := range lanes {
		names.add(id, key)
	}
	return names.args()
}

// solo is the value of ready.solo of the jobs to claim.
func (c *claimer) solo() int16 {
	if c.claim.Solo {
		return 1
	}
	return 0
}

// lease runs the statement of a claim while the limits are locked against changes: the
// lock is shared by all claims, and a change of the limits waits until they have committed.
func (c *claimer) lease(ctx context.Context, claim call) error {
	before := len(c.jobs)
	claim.restart = func() { c.forget(before) }
	err := c.runPinned(ctx, call{sql: c.sql.ShareLimits, args: []any{c.limitsLock}}, claim)
	if err != nil {
		claim.restart()
	}
	for _, job := range c.jobs[before:] {
		raise(&c.lastFence, job.Fence)
	}
	c.left -= len(c.jobs) - before
	return err
}

// forget drops the jobs of an attempt that was rolled back.
func (c *claimer) forget(before int) { c.jobs, c.laneIDs = c.jobs[:before], c.laneIDs[:before] }

// reader returns a function that appends a row of a claim statement to the jobs. It
// skips the first columns.
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
		c.bytes.Keep(job, len(c.jobs) == 0)
		c.jobs, c.laneIDs = append(c.jobs, job), append(c.laneIDs, lane)
		return sqlstore.SetPolicy(job, flags, policy)
	}
}
