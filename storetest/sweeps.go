package storetest

import (
	"context"
	"fmt"
	"slices"

	"github.com/fairlead-io/fairlead"
)

// testSweeps is what a store does for sweeps.
func testSweeps(c *chapter) {
	testPutSweep(c)
	testDeleteSweep(c)
	testListSweeps(c)
	testSteer(c)
	testSweepTx(c)
	testCut(c)
	testCheckpoint(c)
	testShares(c)
	testFailedItems(c)
	testRetryItems(c)
	testItemsOfCheckpoint(c)
	testSweepLogs(c)
	testSweepRaces(c)
}

// newSweep is a sweep of a thousand items of which nothing else is special.
func newSweep(name string, changes ...func(*fairlead.Sweep)) fairlead.Sweep {
	s := fairlead.Sweep{Name: name, Kind: "scrub", To: 1000, SweepStatus: fairlead.SweepStatus{State: fairlead.SweepCreated}}
	for _, change := range changes {
		change(&s)
	}
	return s
}

// tryPutSweep is Store.PutSweep with its defaults filled in, as the client does it.
func (f *fixture) tryPutSweep(s fairlead.Sweep) (fairlead.Sweep, error) {
	f.Helper()
	f.ok(fairlead.NormalizeSweep(&s))
	return f.store.PutSweep(f.ctx(), s)
}

func (f *fixture) putSweep(s fairlead.Sweep) fairlead.Sweep {
	f.Helper()
	stored, err := f.tryPutSweep(s)
	f.ok(err)
	return stored
}

// sweep stores a sweep.
func (f *fixture) sweep(name string, changes ...func(*fairlead.Sweep)) fairlead.Sweep {
	f.Helper()
	return f.putSweep(newSweep(name, changes...))
}

func inState(state fairlead.SweepState) func(*fairlead.Sweep) {
	return func(s *fairlead.Sweep) { s.State = state }
}

func (f *fixture) sweeps(filter fairlead.SweepFilter) []fairlead.Sweep {
	f.Helper()
	list, err := f.store.Sweeps(f.ctx(), filter)
	f.ok(err)
	return list
}

// theSweep reads a sweep.
func (f *fixture) theSweep(id int64) fairlead.Sweep {
	f.Helper()
	found := f.sweeps(fairlead.SweepFilter{IDs: []int64{id}})
	if len(found) != 1 {
		f.Fatalf("%d sweeps have the ID %d", len(found), id)
	}
	return found[0]
}

func sweepNames(list []fairlead.Sweep) []string {
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = s.Name
	}
	return names
}

func (f *fixture) shards(sweep int64) []fairlead.Shard {
	f.Helper()
	list, err := f.store.Shards(f.ctx(), sweep)
	f.ok(err)
	return list
}

// steered is what somebody does to a sweep under its lock.
type steered = func(ctx context.Context, s *fairlead.Sweep, tx fairlead.SweepTx) error

// steer acts upon a sweep, and waits for others who do.
func (f *fixture) steer(id int64, act steered) {
	f.Helper()
	begun, err := f.store.Steer(f.ctx(), id, true, act)
	f.ok(err)
	f.equal("it was steered", begun, true)
}

// setState says how a sweep stands.
func (f *fixture) setState(id int64, state fairlead.SweepState) {
	f.Helper()
	f.steer(id, func(_ context.Context, s *fairlead.Sweep, _ fairlead.SweepTx) error {
		s.State = state
		return nil
	})
}

// ranges are n shards of a hundred items each.
func ranges(sweep int64, n int) []fairlead.Shard {
	list := make([]fairlead.Shard, n)
	for i := range list {
		from := int64(100 * i)
		list[i] = fairlead.Shard{Sweep: sweep, Number: i, From: from, To: from + 100, Mark: from}
	}
	return list
}

// cut stores a sweep that runs, of n shards that have no jobs.
func (f *fixture) cut(n int, changes ...func(*fairlead.Sweep)) fairlead.Sweep {
	f.Helper()
	s := f.sweep(fmt.Sprint("cut into ", n), changes...)
	f.steer(s.ID, func(ctx context.Context, s *fairlead.Sweep, tx fairlead.SweepTx) error {
		s.State, s.Cut = fairlead.SweepRunning, true
		return tx.Cut(ctx, ranges(s.ID, n))
	})
	return f.theSweep(s.ID)
}

// employ gives shards jobs.
func (f *fixture) employ(sweep int64, shards ...int) []*fairlead.Job {
	f.Helper()
	jobs := many(len(shards))
	f.ok(fairlead.NormalizeJobs(jobs))
	f.steer(sweep, func(ctx context.Context, _ *fairlead.Sweep, tx fairlead.SweepTx) error {
		return tx.Employ(ctx, shards, jobs)
	})
	return jobs
}

// sweeping stores a sweep that runs, with one shard, and claims its job.
func (f *fixture) sweeping(changes ...func(*fairlead.Sweep)) (fairlead.Sweep, *fairlead.Job) {
	f.Helper()
	s := f.cut(1, changes...)
	return s, f.claimThe(f.employ(s.ID, 0)[0], f.join())
}

// grant gives the first shard a share.
func (f *fixture) grant(sweep int64, share fairlead.Share) {
	f.Helper()
	f.steer(sweep, func(ctx context.Context, s *fairlead.Sweep, tx fairlead.SweepTx) error {
		return tx.Grant(ctx, []fairlead.Shard{{Sweep: s.ID, Share: share}})
	})
}

// markAt is a checkpoint of the run of the first shard.
func markAt(sweep fairlead.Sweep, job *fairlead.Job, mark int64) fairlead.Checkpoint {
	return fairlead.Checkpoint{Sweep: sweep.ID, Job: job.ID, Fence: job.Fence, Mark: mark, Done: mark}
}

// note stores that items of the first shard came to nothing.
func (f *fixture) note(sweep fairlead.Sweep, job *fairlead.Job, items ...fairlead.FailedItem) {
	f.Helper()
	c := markAt(sweep, job, 0)
	c.Failed = items
	f.checkpoint(c)
}

func (f *fixture) checkpoint(c fairlead.Checkpoint) fairlead.Orders {
	f.Helper()
	orders, err := f.store.Checkpoint(f.ctx(), c)
	f.ok(err)
	return orders
}

// wantRefused expects that a checkpoint is refused and changes nothing.
func (f *fixture) wantRefused(c fairlead.Checkpoint, want error) {
	f.Helper()
	before := f.shards(c.Sweep)
	_, err := f.store.Checkpoint(f.ctx(), c)
	f.wantErr(err, want)
	f.equal("the shards", f.shards(c.Sweep), before)
}

func (f *fixture) events(sweep int64) []fairlead.SweepEvent {
	f.Helper()
	list, err := f.store.SweepEvents(f.ctx(), fairlead.EventFilter{Sweep: sweep})
	f.ok(err)
	return list
}

// unnumbered are events without their IDs.
func unnumbered(events []fairlead.SweepEvent) []fairlead.SweepEvent {
	plain := slices.Clone(events)
	for i := range plain {
		plain[i].ID = 0
	}
	return plain
}

func (f *fixture) logs(filter fairlead.LogFilter) []fairlead.SweepLog {
	f.Helper()
	list, err := f.store.SweepLogs(f.ctx(), filter)
	f.ok(err)
	return list
}

func (f *fixture) failed(filter fairlead.ItemFilter) []fairlead.FailedItem {
	f.Helper()
	list, err := f.store.FailedItems(f.ctx(), filter)
	f.ok(err)
	return list
}

// forgetSweeps removes all sweeps.
func (f *fixture) forgetSweeps() error {
	sweeps, err := f.store.Sweeps(f.ctx(), fairlead.SweepFilter{Limit: 2 * tooMany})
	if err != nil {
		return err
	}
	for _, s := range sweeps {
		_, err := f.store.Steer(f.ctx(), s.ID, true, func(_ context.Context, s *fairlead.Sweep, _ fairlead.SweepTx) error {
			s.State = fairlead.SweepStopped
			return nil
		})
		if err != nil {
			return err
		}
		if err := f.store.DeleteSweep(f.ctx(), s.ID); err != nil {
			return err
		}
	}
	return nil
}
