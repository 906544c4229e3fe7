package sqlite

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/dispatch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Claim leases ready jobs to a live node. It returns ErrLeaseLost if the node is not alive.
// Claim's transaction holds the file's write lock. It therefore sees every committed job and
// pause, and takes exactly the jobs that are first in order. Nothing changes between its
// statements, so unlike the other stores it locks no limits and chooses only once.
func (s *Store) Claim(ctx context.Context, claim driver.Claim) ([]*fairlead.Job, error) {
	claim.Rooms = maps.Clone(claim.Rooms)
	token, err := s.nodes.Of(ctx, claim.Node)
	if err != nil {
		return nil, fmt.Errorf("claim: %w", err)
	}
	if err := s.fair.Share(ctx, claim.Node); err != nil {
		return nil, fmt.Errorf("claim: %w", err)
	}
	jobs, err := inTx(ctx, s, "claim", func(t *txn) ([]*fairlead.Job, error) { return t.claim(claim, token) })
	s.fair.ShareFirst(ctx, claim.Node)
	return jobs, err
}

func (t *txn) claim(claim driver.Claim, token string) ([]*fairlead.Job, error) {
	var lives int
	if found, err := t.one(t.sql.ClaimCheck, []any{int64(claim.Node), token, t.now}, &lives); err != nil {
		return nil, err
	} else if !found {
		return nil, driver.NodeLost(claim.Node)
	}
	for {
		jobs, err := t.claimKnown(claim)
		changed := sqlstore.ChangedLanes(nil)
		if !errors.As(err, &changed) {
			return jobs, err
		}
		t.lanes.forget(changed...) // each time fewer lanes differ from what is cached
	}
}

// claimKnown claims from the cached lanes. It leases nothing if one of the lanes with
// the first jobs differs from what is cached.
func (t *txn) claimKnown(claim driver.Claim) ([]*fairlead.Job, error) {
	config, err := t.config()
	if err != nil {
		return nil, err
	}
	lanes, err := t.open(claim, config)
	if err != nil || len(lanes) == 0 || claim.Max <= 0 {
		return nil, err
	}
	l := claimer{txn: t, node: claim.Node, fair: t.fair.Open(claim.Node, config), bytes: sqlstore.ClaimBytes{Most: claim.Bytes}}
	switch {
	case len(lanes) == 1 && !claim.Solo && len(config.ByID) == 0:
		return l.takeFirst(lanes[0], room(claim, lanes[0].Kind))
	default:
		return l.takeChosen(config, lanes, claim)
	}
}

// room returns how many jobs of a kind the claim may take.
func room(claim driver.Claim, kind string) int {
	if room, bounded := claim.Rooms[kind]; bounded {
		return max(0, min(room, claim.Max))
	}
	return claim.Max
}

// open returns the lanes that the claim may take from: served, not paused, with room
// for their kind.
func (t *txn) open(claim driver.Claim, config *sqlstore.LimitConfig) ([]sqlstore.Lane, error) {
	lanes, err := t.served(claim.Scope)
	if err != nil || !config.Pauses() && len(claim.Rooms) == 0 {
		return lanes, err
	}
	return slices.DeleteFunc(slices.Clone(lanes), func(lane sqlstore.Lane) bool {
		return room(claim, lane.Kind) == 0 || config.Paused(lane.LaneKey)
	}), nil
}

// claimer is a claim in progress. All of its jobs get one fence.
type claimer struct {
	*txn
	node  fairlead.NodeID
	fair  *sqlstore.FairClaim // what tenants share by weight; nil: nothing
	fence int64               // taken with the first jobs

	bytes  sqlstore.ClaimBytes
	loaded int // jobs
}

// takeFirst takes the first jobs of a lane.
func (l *claimer) takeFirst(lane sqlstore.Lane, limit int) ([]*fairlead.Job, error) {
	jobs, err := l.load(map[int32]sqlstore.LaneKey{lane.ID: lane.LaneKey}, l.sql.ClaimLane, lane.ID, limit)
	if err != nil || len(jobs) == 0 {
		return nil, err
	}
	if err := l.compareLanes(map[int32]sqlstore.LaneKey{lane.ID: lane.LaneKey}); err != nil {
		return nil, err
	}
	l.laneHeads.touch(lane.ID)
	if err := l.startUpto(lane.ID, len(jobs), keyOf(jobs[len(jobs)-1])); err != nil {
		return nil, err
	}
	return l.noteShares(false, nil, l.leased(jobs)), nil
}

// loadStarted reads the jobs that were moved, in order.
func (l *claimer) loadStarted(names map[int32]sqlstore.LaneKey, ids []int64) ([]*fairlead.Job, error) {
	jobs, err := l.load(names, l.sql.ClaimStarted, idList(ids))
	if err == nil && len(jobs) != len(ids) {
		err = fmt.Errorf("found %d of %d jobs", len(jobs), len(ids))
	}
	slices.SortFunc(jobs, func(a, b *fairlead.Job) int { return keyOf(a).Compare(keyOf(b)) })
	return l.leased(jobs), err
}

// startUpto moves the first n jobs of a lane, up to a key, from ready to running. They
// are adjacent, which makes that cheap.
func (l *claimer) startUpto(lane int32, n int, last dispatch.Key) error {
	if err := l.takeFence(); err != nil {
		return err
	}
	if err := l.must(int64(n), l.sql.ToRunningRange, l.fence, int64(l.node), l.now, lane, last.Turn, last.StartBy, last.ID); err != nil {
		return err
	}
	return l.must(int64(n), l.sql.LeaveReadyRange, lane, last.Turn, last.StartBy, last.ID)
}

// startApart moves jobs of many lanes from ready to running.
func (l *claimer) startApart(ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	if err := l.takeFence(); err != nil {
		return err
	}
	slices.Sort(ids) // in the order of running
	list, n := idList(ids), int64(len(ids))
	if err := l.must(n, l.sql.ClaimChosen, l.fence, int64(l.node), l.now, list); err != nil {
		return err
	}
	return l.must(n, l.sql.LeaveReadyChosen, list)
}

// takeFence takes a fence unless the claim has one.
func (l *claimer) takeFence() (err error) {
	if l.fence == 0 {
		l.fence, err = l.next(fenceCounter, 1)
	}
	return err
}

// leased sets what the claim changed in the jobs.
func (l *claimer) leased(jobs []*fairlead.Job) []*fairlead.Job {
	now := sqlstore.Time(l.now)
	for _, job := range jobs {
		job.State, job.Fence, job.Node, job.StartedAt = fairlead.Running, l.fence, l.node, now
		job.Attempt++
	}
	return jobs
}

// load reads jobs as they were before the claim.
func (l *claimer) load(names map[int32]sqlstore.LaneKey, query string, args ...any) ([]*fairlead.Job, error) {
	var jobs []*fairlead.Job
	err := l.each(query, args, func(row sqlstore.Scanner) error {
		job := &fairlead.Job{}
		var lane int32
		var turn int
		var flags int16
		var startBy, notBefore, createdAt int64
		var policy, args, memo, progress []byte
		if err := row.Scan(&lane, &job.Attempt, &job.Failures, &job.Crashes,
			&job.ID, &turn, &startBy, &notBefore, &createdAt, &job.Key, &flags, &policy, &job.Trace, &args, &memo, &progress); err != nil {
			return err
		}
		name := names[lane]
		job.Queue, job.Tenant, job.Kind = name.Queue, name.Tenant, name.Kind
		job.Priority, job.StartBy, job.NotBefore, job.CreatedAt = -turn, sqlstore.Time(startBy), sqlstore.Time(notBefore), sqlstore.Time(createdAt)
		job.Args, job.Memo, job.Progress = args, memo, progress
		l.bytes.Keep(job, l.loaded == 0)
		l.loaded++
		jobs = append(jobs, job)
		return sqlstore.SetPolicy(job, flags, policy)
	})
	return jobs, err
}
