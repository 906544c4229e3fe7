package storetest

import (
	"context"
	"fmt"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/sweep"
)

// testSweeps covers the operations for sweeps.
func testSweeps(c *chapter) {
	testPutSweep(c)
	testDeleteSweep(c)
	testListSweeps(c)
	testSweepItems(c)
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

// newSweep returns a sweep of a thousand items without other special properties.
func newSweep(name string, changes ...func(*sweep.Sweep)) sweep.Sweep {
	s := sweep.Sweep{Name: name, Kind: "scrub", To: 1000, Status: sweep.Status{State: sweep.Created}}
	for _, change := range changes {
		change(&s)
	}
	return s
}

// tryPutSweep calls Store.PutSweep with the defaults filled in, like the client.
func (f *fixture) tryPutSweep(s sweep.Sweep) (sweep.Sweep, error) {
	f.Helper()
	f.ok(sweep.Normalize(&s))
	return f.store.PutSweep(f.ctx(), s)
}

func (f *fixture) putSweep(s sweep.Sweep) sweep.Sweep {
	f.Helper()
	stored, err := f.tryPutSweep(s)
	f.ok(err)
	return stored
}

// sweep stores a sweep.
func (f *fixture) sweep(name string, changes ...func(*sweep.Sweep)) sweep.Sweep {
	f.Helper()
	return f.putSweep(newSweep(name, changes...))
}

func inState(state sweep.State) func(*sweep.Sweep) {
	return func(s *sweep.Sweep) { s.State = state }
}

func (f *fixture) sweeps(filter sweep.Filter) []sweep.Sweep {
	f.Helper()
	records, err := f.store.Sweeps(f.ctx(), filter)
	f.ok(err)
	var list []sweep.Sweep
	for i := range records {
		list = append(list, records[i].Sweep)
	}
	return list
}

// theSweep reads a sweep.
func (f *fixture) theSweep(id int64) sweep.Sweep {
	f.Helper()
	return f.sweepRecord(id).Sweep
}

// sweepRecord reads a sweep with its ledger.
func (f *fixture) sweepRecord(id int64) sweep.Record {
	f.Helper()
	found, err := f.store.Sweeps(f.ctx(), sweep.Filter{IDs: []int64{id}})
	f.ok(err)
	if len(found) != 1 {
		f.Fatalf("%d sweeps have the ID %d", len(found), id)
	}
	return found[0]
}

func sweepNames(list []sweep.Sweep) []string {
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = s.Name
	}
	return names
}

func (f *fixture) shards(sweep int64) []sweep.Shard {
	f.Helper()
	list, err := f.store.Shards(f.ctx(), sweep)
	f.ok(err)
	return list
}

// steered is an action on a sweep under its lock.
type steered = func(ctx context.Context, s *sweep.Record, tx sweep.Tx) error

// steer acts on a sweep, and waits for concurrent actions.
func (f *fixture) steer(id int64, act steered) {
	f.Helper()
	begun, err := f.store.Steer(f.ctx(), id, true, act)
	f.ok(err)
	f.equal("it was steered", begun, true)
}

// setState sets the state of a sweep.
func (f *fixture) setState(id int64, state sweep.State) {
	f.Helper()
	f.steer(id, func(_ context.Context, s *sweep.Record, _ sweep.Tx) error {
		s.State = state
		return nil
	})
}

// ranges returns n shards of a hundred items each.
func ranges(s int64, n int) []sweep.Shard {
	list := make([]sweep.Shard, n)
	for i := range list {
		from := int64(100 * i)
		list[i] = sweep.Shard{Sweep: s, Number: i, From: from, To: from + 100, Mark: from}
	}
	return list
}

// cut stores a running sweep of n shards without jobs.
func (f *fixture) cut(n int, changes ...func(*sweep.Sweep)) sweep.Sweep {
	f.Helper()
	s := f.sweep(fmt.Sprint("cut into ", n), changes...)
	f.steer(s.ID, func(ctx context.Context, s *sweep.Record, tx sweep.Tx) error {
		s.State, s.Cut = sweep.Running, true
		return tx.Cut(ctx, ranges(s.ID, n))
	})
	return f.theSweep(s.ID)
}

// employ creates jobs for shards.
func (f *fixture) employ(s int64, shards ...int) []*fairlead.Job {
	f.Helper()
	jobs := many(len(shards))
	f.ok(fairlead.NormalizeJobs(jobs))
	f.steer(s, func(ctx context.Context, _ *sweep.Record, tx sweep.Tx) error {
		return tx.Employ(ctx, shards, jobs)
	})
	return jobs
}

// sweeping stores a running sweep with one shard, and claims its job.
func (f *fixture) sweeping(changes ...func(*sweep.Sweep)) (sweep.Sweep, *fairlead.Job) {
	f.Helper()
	s := f.cut(1, changes...)
	return s, f.claimThe(f.employ(s.ID, 0)[0], f.join())
}

// grant assigns a share to the first shard.
func (f *fixture) grant(sw int64, share sweep.Share) {
	f.Helper()
	f.steer(sw, func(ctx context.Context, s *sweep.Record, tx sweep.Tx) error {
		return tx.Grant(ctx, []sweep.Shard{{Sweep: s.ID, Share: share}})
	})
}

// markAt returns a checkpoint of the run of the first shard.
func markAt(s sweep.Sweep, job *fairlead.Job, mark int64) sweep.Checkpoint {
	return sweep.Checkpoint{Sweep: s.ID, Job: job.ID, Fence: job.Fence, Mark: mark, Done: mark}
}

// note records failed items of the first shard.
func (f *fixture) note(sweep sweep.Sweep, job *fairlead.Job, items ...sweep.FailedItem) {
	f.Helper()
	c := markAt(sweep, job, 0)
	c.Failed = items
	f.checkpoint(c)
}

func (f *fixture) checkpoint(c sweep.Checkpoint) sweep.Orders {
	f.Helper()
	orders, err := f.store.Checkpoint(f.ctx(), c)
	f.ok(err)
	return orders
}

// wantRefused checks that a checkpoint is rejected and changes nothing.
func (f *fixture) wantRefused(c sweep.Checkpoint, want error) {
	f.Helper()
	before := f.shards(c.Sweep)
	_, err := f.store.Checkpoint(f.ctx(), c)
	f.wantErr(err, want)
	f.equal("the shards", f.shards(c.Sweep), before)
}

func (f *fixture) events(s int64) []sweep.Event {
	f.Helper()
	list, err := f.store.SweepEvents(f.ctx(), sweep.EventFilter{Sweep: s})
	f.ok(err)
	return list
}

// unnumbered returns events without their IDs.
func unnumbered(events []sweep.Event) []sweep.Event {
	plain := slices.Clone(events)
	for i := range plain {
		plain[i].ID = 0
	}
	return plain
}

func (f *fixture) logs(filter sweep.LogFilter) []sweep.Log {
	f.Helper()
	list, err := f.store.SweepLogs(f.ctx(), filter)
	f.ok(err)
	return list
}

func (f *fixture) failed(filter sweep.ItemFilter) []sweep.FailedItem {
	f.Helper()
	list, err := f.store.FailedItems(f.ctx(), filter)
	f.ok(err)
	return list
}

// forgetSweeps deletes all sweeps.
func (f *fixture) forgetSweeps() error {
	sweeps, err := f.store.Sweeps(f.ctx(), sweep.Filter{Limit: 2 * tooMany})
	if err != nil {
		return err
	}
	for _, s := range sweeps {
		_, err := f.store.Steer(f.ctx(), s.ID, true, func(_ context.Context, s *sweep.Record, _ sweep.Tx) error {
			s.State = sweep.Stopped
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
