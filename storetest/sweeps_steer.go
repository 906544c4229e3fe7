package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/sweep"
)

func testSteer(c *chapter) {
	c.test("Steer keeps what act changed of how the sweep stands, of its ledger and of its Data", func(f *fixture) {
		s := f.sweep("s")
		want := sweep.Record{Sweep: s, Ledger: everySweepLedger(f.now())}
		want.Status, want.Data = everyStanding(f.now()), json.RawMessage(`{"n": 1 }`)
		f.steer(s.ID, func(_ context.Context, s *sweep.Record, _ sweep.Tx) error {
			changed := elaborateSweep()
			changed.ID, changed.Version, changed.Status, changed.Data = unknown, 77, want.Status, want.Data
			*s = sweep.Record{Sweep: changed, Ledger: want.Ledger}
			return nil
		})
		got := f.sweepRecord(s.ID)
		want.Version = got.Version
		f.equal("the sweep", got, want)
		var seen sweep.Record
		f.elsewhere().steer(s.ID, func(_ context.Context, s *sweep.Record, _ sweep.Tx) error {
			seen = *s
			return nil
		})
		f.equal("the sweep as act sees it", seen, want)
	})
	c.test("if it left Data as it was, Version stays, and so the sweep can be edited", func(f *fixture) {
		s := f.sweep("s")
		s.Data = json.RawMessage(`{"n": 1 }`)
		stored := f.putSweep(s)
		for range 2 {
			f.steer(s.ID, func(context.Context, *sweep.Record, sweep.Tx) error { return nil })
		}
		f.setState(s.ID, sweep.Running)
		f.equal("the Version", f.theSweep(s.ID).Version, stored.Version)
		stored.Rate = 7
		f.putSweep(stored)
	})
	c.test("if it changed Data, Version grows", func(f *fixture) {
		s := f.sweep("s")
		f.setState(s.ID, sweep.Running)
		f.equal("the Version", f.theSweep(s.ID).Version, s.Version)
		f.steer(s.ID, func(_ context.Context, s *sweep.Record, _ sweep.Tx) error {
			s.Data = json.RawMessage(`2`)
			return nil
		})
		if got := f.theSweep(s.ID).Version; got <= s.Version {
			f.Fatalf("the Version is %d after %d", got, s.Version)
		}
		_, err := f.tryPutSweep(s)
		f.wantErr(err, fairlead.ErrConflict)
	})
	c.test("unless act returns an error: then nothing is kept, and Steer fails with it", func(f *fixture) {
		s, job := f.sweeping()
		f.checkpoint(markAt(s, job, 5))
		sw, shards := f.theSweep(s.ID), f.shards(s.ID)
		jobs := f.tally(fairlead.Filter{})
		for _, refusal := range []error{errors.New("no"), fairlead.ErrConflict, fairlead.ErrNotFound} {
			_, err := f.store.Steer(f.ctx(), s.ID, true, func(ctx context.Context, s *sweep.Record, tx sweep.Tx) error {
				s.State, s.Reason, s.Data = sweep.Stopped, "what", json.RawMessage(`1`)
				more := many(2)
				if err := fairlead.NormalizeJobs(more); err != nil {
					return err
				}
				if err := tx.Employ(ctx, []int{0}, more[:1]); err != nil {
					return err
				}
				if err := tx.Enqueue(ctx, more[1:]); err != nil {
					return err
				}
				if err := tx.Record(ctx, sweep.Event{Action: "what"}); err != nil {
					return err
				}
				if err := tx.Grant(ctx, []sweep.Shard{{Number: 0, Share: sweep.Share{Rate: 1, InFlight: 1}}}); err != nil {
					return err
				}
				return refusal
			})
			f.wantErr(err, refusal)
			f.equal("the sweep", f.theSweep(s.ID), sw)
			f.equal("the shards", f.shards(s.ID), shards)
			f.equal("the jobs", f.tally(fairlead.Filter{}), jobs)
			f.equal("the history", len(f.events(s.ID)), 0)
		}
		f.equal("what can be claimed", len(f.claim(f.join(), 10)), 0)
	})
	c.test("Steer fails with ErrNotFound, and does not call act", func(f *fixture) {
		for _, wait := range []bool{true, false} {
			_, err := f.store.Steer(f.ctx(), unknown, wait, func(context.Context, *sweep.Record, sweep.Tx) error {
				return errors.New("act was called")
			})
			f.wantErr(err, fairlead.ErrNotFound)
		}
	})
	c.test("nodes that may run jobs that were enqueued by steering are woken", func(f *fixture) {
		s := f.cut(1)
		l := f.listen(everything())
		f.employ(s.ID, 0)
		if !l.heard(driver.WakeWork, patient) {
			f.Fatal("nobody was woken")
		}
	})
}

func testSweepTx(c *chapter) {
	c.test("Now is the database's clock, read under the lock of a sweep", func(f *fixture) {
		s := f.sweep("s")
		for range 2 {
			var now time.Time
			f.steer(s.ID, func(_ context.Context, _ *sweep.Record, tx sweep.Tx) error {
				now = tx.Now()
				return nil
			})
			f.equal("the time", now, f.now())
			f.Advance(time.Minute + time.Microsecond)
		}
	})
	c.test("Shards returns the shards, in order, with the state of their jobs in step", func(f *fixture) {
		s := f.cut(10)
		jobs := f.employ(s.ID, 8, 7, 6, 5, 4, 3, 2, 1, 0) // the last shard has no job
		node := f.join()
		claimed := f.claim(node, 7)
		failed := to(fairlead.Fail, claimed[2])
		failed.Reason = fairlead.ReasonError
		f.settle(to(fairlead.Succeed, claimed[1]), failed, to(fairlead.Drop, claimed[3]), again(claimed[4], time.Hour), wait(claimed[5]), to(fairlead.MoveRelease, claimed[6]))
		f.setState(s.ID, sweep.Stopped) // jobs of a running sweep cannot be deleted
		f.ok(operations(f.store).Delete(f.ctx(), jobs[8].ID))
		var shards []sweep.Shard
		var states []fairlead.State
		f.steer(s.ID, func(ctx context.Context, _ *sweep.Record, tx sweep.Tx) (err error) {
			shards, states, err = tx.Shards(ctx)
			return err
		})
		f.equal("the shards", shards, f.shards(s.ID))
		f.equal("the states", states, []fairlead.State{
			"", fairlead.Ready, fairlead.Ready, fairlead.Waiting, fairlead.Scheduled, fairlead.Cancelled, fairlead.Failed, fairlead.Succeeded, fairlead.Running, "",
		})
	})
	c.test("Employ enqueues a job for each of some shards, makes it theirs and sets its ID", func(f *fixture) {
		s := f.cut(3)
		jobs := many(2, inQueue("sg"), priority(3))
		jobs[0].Args, jobs[1].Args = json.RawMessage(`{"shard": 2}`), json.RawMessage(`{"shard": 0}`)
		f.ok(fairlead.NormalizeJobs(jobs))
		f.steer(s.ID, func(ctx context.Context, _ *sweep.Record, tx sweep.Tx) error {
			return tx.Employ(ctx, []int{2, 0}, jobs)
		})
		want := ranges(s.ID, 3)
		want[2].Job, want[0].Job = jobs[0].ID, jobs[1].ID
		f.equal("the shards", f.shards(s.ID), want)
		claimed := f.wantClaim(f.join(), everything(), jobs...)
		f.equal("the args", claimed[0].Args, jobs[0].Args)
		f.equal("the queue", claimed[0].Queue, "sg")
		f.equal("the priority", claimed[0].Priority, 3)
	})
	c.test("What the shard has stored stays if it is employed again", func(f *fixture) {
		s, job := f.sweeping()
		last := markAt(s, job, 50)
		last.Window, last.Pending, last.Source, last.Errors, last.Measured = []byte{1, 0, 255}, json.RawMessage(`[1]`), json.RawMessage(`{"at":5}`), 3, 2.5
		f.checkpoint(last)
		want := f.shards(s.ID)
		f.settle(to(fairlead.Succeed, job))
		want[0].Job = f.employ(s.ID, 0)[0].ID
		f.equal("the shards", f.shards(s.ID), want)
	})
	c.test("how many jobs the tenant of a sweep may have pending does not count", func(f *fixture) {
		f.declare(fairlead.Tenant{Name: "acme", MaxPending: 1})
		s := f.cut(3)
		jobs, more := many(3, forTenant("acme")), many(2, forTenant("acme"))
		f.ok(fairlead.NormalizeJobs(jobs))
		f.ok(fairlead.NormalizeJobs(more))
		f.steer(s.ID, func(ctx context.Context, _ *sweep.Record, tx sweep.Tx) error {
			if err := tx.Employ(ctx, []int{0, 1, 2}, jobs); err != nil {
				return err
			}
			return tx.Enqueue(ctx, more)
		})
		f.equal("its jobs", f.tally(fairlead.Filter{Tenants: []string{"acme"}}), map[fairlead.State]int64{fairlead.Ready: 5})
	})
	c.test("Enqueue enqueues other jobs and sets their IDs", func(f *fixture) {
		s := f.cut(1)
		jobs := []*fairlead.Job{with(ofKind("first of its kind"), inQueue("new")), with(notBefore(f.now().Add(time.Hour)))}
		f.ok(fairlead.NormalizeJobs(jobs))
		f.steer(s.ID, func(ctx context.Context, _ *sweep.Record, tx sweep.Tx) error { return tx.Enqueue(ctx, jobs) })
		f.wantState(jobs[0], fairlead.Ready)
		f.wantState(jobs[1], fairlead.Scheduled)
		f.equal("the shards", f.shards(s.ID), ranges(s.ID, 1))
	})
	c.test("Record adds to the history, now", func(f *fixture) {
		s := f.cut(1)
		first := sweep.Event{By: "ann\x00", Action: "start", From: sweep.Created, To: sweep.Waiting, Note: "a\nb"}
		second := sweep.Event{Action: "stop", From: sweep.Waiting, To: sweep.Stopped}
		record := func(events ...sweep.Event) {
			f.steer(s.ID, func(ctx context.Context, _ *sweep.Record, tx sweep.Tx) error {
				for _, event := range events {
					if err := tx.Record(ctx, event); err != nil {
						return err
					}
				}
				return nil
			})
		}
		record(first)
		first.At, first.By = f.now(), "ann\uFFFD"
		f.Advance(time.Second)
		record(second, second)
		second.At = f.now()
		history := f.events(s.ID)
		f.equal("the history", unnumbered(history), []sweep.Event{second, second, first})
		for below := int64(0); len(history) > 0; history = history[1:] {
			next, err := f.store.SweepEvents(f.ctx(), sweep.EventFilter{Sweep: s.ID, Below: below, Limit: 1})
			f.ok(err)
			f.equal("the next of it", next, history[:1])
			if below != 0 && next[0].ID >= below {
				f.Fatalf("event %d comes after %d", next[0].ID, below)
			}
			below = next[0].ID
		}
	})
}
