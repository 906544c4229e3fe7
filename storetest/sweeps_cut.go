package storetest

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/sweep"
)

// recut replaces the shards of a sweep.
func (f *fixture) recut(s int64, shards []sweep.Shard) {
	f.Helper()
	f.steer(s, func(ctx context.Context, _ *sweep.Record, tx sweep.Tx) error { return tx.Cut(ctx, shards) })
}

// forget clears the failed items of a sweep.
func (f *fixture) forget(s int64) {
	f.Helper()
	f.steer(s, func(ctx context.Context, _ *sweep.Record, tx sweep.Tx) error { return tx.Forget(ctx) })
}

func testCut(c *chapter) {
	c.test("Cut makes the shards anew, without jobs", func(f *fixture) {
		s, job := f.sweeping()
		f.grant(s.ID, sweep.Share{Rate: 1, InFlight: 1})
		last := markAt(s, job, 50)
		last.Window, last.Pending, last.Source = []byte{1}, json.RawMessage(`[1]`), json.RawMessage(`{"at":5}`)
		f.checkpoint(last)
		f.settle(to(fairlead.Succeed, job))
		want := ranges(s.ID, 3)
		want[1].To, want[2].Ended, want[2].Mark = 0, true, want[2].To
		f.recut(s.ID, want)
		f.equal("the shards", f.shards(s.ID), want)
		f.recut(s.ID, want[:1])
		f.equal("the shards", f.shards(s.ID), want[:1])
	})
	c.test("Shards have the states of their own jobs, whatever becomes of others", func(f *fixture) {
		for _, state := range possible() {
			f.in(state)
		}
		f.perKey(kind, 7)
		want := []fairlead.State{fairlead.Succeeded, fairlead.Failed, fairlead.Cancelled, fairlead.Running, fairlead.Waiting, fairlead.Scheduled, fairlead.Ready, ""}
		s := f.cut(len(want))
		jobs := many(7, inQueue("shards"), behind("g"))
		f.ok(fairlead.NormalizeJobs(jobs))
		f.steer(s.ID, func(ctx context.Context, _ *sweep.Record, tx sweep.Tx) error {
			return tx.Employ(ctx, []int{0, 1, 2, 3, 4, 5, 6}, jobs)
		})
		f.enqueue(many(5, behind("g"))...)
		claimed := f.claimAs(driver.Claim{Node: f.join(), Scope: &driver.Scope{Queues: []string{"shards"}, Kinds: []string{kind}}, Max: 6})
		f.settle(to(fairlead.Succeed, claimed[0]), to(fairlead.Fail, claimed[1]), to(fairlead.Drop, claimed[2]), wait(claimed[4]), again(claimed[5], time.Hour))
		f.steer(s.ID, func(ctx context.Context, _ *sweep.Record, tx sweep.Tx) error {
			_, states, err := tx.Shards(ctx)
			f.equal("the states", states, want)
			return err
		})
	})
	c.test("Of what shards have done Cut stores all that a later run needs, and nothing of the run before", func(f *fixture) {
		s := f.cut(1)
		want := ranges(s.ID, 3)
		want[0] = sweep.Shard{
			Sweep: s.ID, To: 100, Mark: 40, Behind: 5, Window: []byte{0, 1, 0, 255}, Pending: json.RawMessage(`{"aside": "é"}`), Source: json.RawMessage(`{"offset" : 12}`),
			Done: 50, Abandoned: 7, Again: 3, Errors: 20,
		}
		want[1].Source = want[0].Source
		want[2].Window, want[2].Pending = bytes.Repeat([]byte{0xA7, 0x00, 0x5C}, 683), json.RawMessage(`["`+string(bytes.Repeat([]byte("x"), 1500))+`"]`)
		given := append([]sweep.Shard(nil), want...)
		given[0].Job, given[0].Fence, given[0].SavedAt, given[0].Measured = 5, 6, f.now(), 7.5
		given[0].Share, given[0].Told, given[0].Used = sweep.Share{InFlight: 1}, sweep.Share{InFlight: 2}, sweep.Share{InFlight: 3}
		f.recut(s.ID, given)
		f.equal("the shards", f.shards(s.ID), want)
		progress := f.theSweep(s.ID).Progress
		f.equal("what has been done", progress, sweep.Progress{Total: 300, Marked: 35, Done: 50, Abandoned: 7, Again: 3, Errors: 20, InWindow: 22})
	})
	c.test("The run of a shard goes on from what Cut stored, the run before it has lost its lease", func(f *fixture) {
		s, before := f.sweeping()
		f.checkpoint(markAt(s, before, 40))
		f.settle(to(fairlead.Succeed, before))
		shards := ranges(s.ID, 2)
		shards[0].Mark, shards[0].Done = 40, 40
		f.recut(s.ID, shards)
		job := f.claimThe(f.employ(s.ID, 0)[0], f.join())
		f.wantRefused(markAt(s, before, 41), fairlead.ErrLeaseLost)
		f.wantRefused(markAt(s, job, 39), fairlead.ErrConflict)
		f.checkpoint(markAt(s, job, 41))
		f.equal("what has been done", f.theSweep(s.ID).Done, int64(41))
	})
	c.test("Items that came to nothing stay noted when the shards are cut anew, and those that wait do", func(f *fixture) {
		s, jobs := f.failing(2, 3, 105, 120)
		for _, job := range jobs {
			f.settle(to(fairlead.Succeed, job))
		}
		f.again(s.ID, 105)
		noted := f.failed(sweep.ItemFilter{Sweep: s.ID})
		f.recut(s.ID, []sweep.Shard{{To: 200, Mark: 200, Done: 197, Abandoned: 3, Again: 1}})
		f.equal("the items", f.failed(sweep.ItemFilter{Sweep: s.ID}), noted)
		f.equal("what waits", f.waiting(s.ID), []int64{105})
		f.again(s.ID)
		f.equal("how many wait then", f.shards(s.ID)[0].Again, int64(3))
	})
	c.test("Forget forgets which items of a sweep came to nothing", func(f *fixture) {
		s, _ := f.failing(2, 3, 105)
		other, _ := f.failing(1, 3)
		shards := f.shards(s.ID)
		f.forget(s.ID)
		f.equal("the items", len(f.failed(sweep.ItemFilter{Sweep: s.ID})), 0)
		f.equal("those of another", indexesOf(f.failed(sweep.ItemFilter{Sweep: other.ID})), []int64{3})
		f.equal("the shards", f.shards(s.ID), shards)
	})
	c.test("Forget is undone if the steering is", func(f *fixture) {
		s, _ := f.failing(1, 3)
		_, err := f.store.Steer(f.ctx(), s.ID, true, func(ctx context.Context, _ *sweep.Record, tx sweep.Tx) error {
			if err := tx.Forget(ctx); err != nil {
				return err
			}
			return fairlead.ErrConflict
		})
		f.wantErr(err, fairlead.ErrConflict)
		f.equal("the items", indexesOf(f.failed(sweep.ItemFilter{Sweep: s.ID})), []int64{3})
	})
	c.test("if cutting was undone the shards are as before", func(f *fixture) {
		s := f.cut(3)
		_, err := f.store.Steer(f.ctx(), s.ID, true, func(ctx context.Context, _ *sweep.Record, tx sweep.Tx) error {
			if err := tx.Cut(ctx, ranges(s.ID, 5)); err != nil {
				return err
			}
			return fairlead.ErrConflict
		})
		f.wantErr(err, fairlead.ErrConflict)
		f.equal("the shards", f.shards(s.ID), ranges(s.ID, 3))
	})
	c.test("Cut takes as many shards as a sweep may have", func(f *fixture) {
		s := f.cut(sweep.MaxShards)
		numbers := make([]int, sweep.MaxShards)
		for i := range numbers {
			numbers[i] = i
		}
		jobs := f.employ(s.ID, numbers...)
		f.equal("the last job", f.shards(s.ID)[sweep.MaxShards-1].Job, jobs[sweep.MaxShards-1].ID)
		f.equal("the sweep", f.theSweep(s.ID).Total, int64(100*sweep.MaxShards))
	})
	c.test("Cut fails with ErrConflict if one of the old has a job that is not final", func(f *fixture) {
		s := f.cut(2)
		job := f.employ(s.ID, 1)[0]
		refused := func() {
			f.Helper()
			before := f.shards(s.ID)
			_, err := f.store.Steer(f.ctx(), s.ID, true, func(ctx context.Context, s *sweep.Record, tx sweep.Tx) error {
				return tx.Cut(ctx, ranges(s.ID, 3))
			})
			f.wantErr(err, fairlead.ErrConflict)
			f.equal("the shards", f.shards(s.ID), before)
		}
		refused()
		claimed := f.claimThe(job, f.join())
		refused()
		f.settle(again(claimed, time.Hour))
		refused()
		f.ok(operations(f.store).Cancel(f.ctx(), job.ID, ""))
		f.steer(s.ID, func(ctx context.Context, s *sweep.Record, tx sweep.Tx) error {
			return tx.Cut(ctx, ranges(s.ID, 3))
		})
		f.equal("the shards", f.shards(s.ID), ranges(s.ID, 3))
	})
}
