package storetest

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/sweep"
)

func testCheckpoint(c *chapter) {
	c.test("Checkpoint stores how far the run of a shard has come", func(f *fixture) {
		s := f.cut(2)
		f.employ(s.ID, 0, 1)
		job := f.claim(f.join(), 2)[1]
		f.Advance(time.Second)
		f.checkpoint(sweep.Checkpoint{
			Sweep: s.ID, Job: job.ID, Fence: job.Fence, Number: 1, To: 7, Mark: 150, Window: []byte{0, 1, 255, 0}, Pending: json.RawMessage(`[{"i": 160}]`),
			Source: json.RawMessage(`{"offset" : 12}`), Done: 60, Abandoned: 2, Errors: 5, Measured: 12.5, Used: sweep.Share{Rate: 2.25, InFlight: 9},
		})
		want := ranges(s.ID, 2)
		want[0].Job = f.shards(s.ID)[0].Job
		want[1] = sweep.Shard{
			Sweep: s.ID, Number: 1, From: 100, To: 200, Job: job.ID, Mark: 150, Window: []byte{0, 1, 255, 0}, Pending: json.RawMessage(`[{"i": 160}]`),
			Source: json.RawMessage(`{"offset" : 12}`), Done: 60, Abandoned: 2, Errors: 5, Measured: 12.5, Used: sweep.Share{Rate: 2.25, InFlight: 9},
			Fence: job.Fence, SavedAt: f.now(),
		}
		f.equal("the shards", f.shards(s.ID), want)
		f.checkpoint(sweep.Checkpoint{Sweep: s.ID, Job: job.ID, Fence: job.Fence, Number: 1, Mark: 200, Done: 100, Ended: true})
		want[1] = sweep.Shard{
			Sweep: s.ID, Number: 1, From: 100, To: 200, Job: job.ID, Mark: 200, Source: json.RawMessage(`{"offset" : 12}`), Done: 100, Ended: true,
			Fence: job.Fence, SavedAt: f.now(),
		}
		f.equal("the shards then", f.shards(s.ID), want)
	})
	c.test("To counts if that of the shard was not known", func(f *fixture) {
		s := f.sweep("s")
		f.steer(s.ID, func(ctx context.Context, s *sweep.Record, tx sweep.Tx) error {
			s.State, s.Cut = sweep.Running, true
			return tx.Cut(ctx, []sweep.Shard{{}})
		})
		job := f.claimThe(f.employ(s.ID, 0)[0], f.join())
		for _, step := range []struct{ to, want int64 }{{0, 0}, {500, 500}, {0, 500}, {600, 500}} {
			c := markAt(s, job, 1)
			c.To = step.to
			f.checkpoint(c)
			f.equal("To", f.shards(s.ID)[0].To, step.want)
		}
		f.equal("the total", f.theSweep(s.ID).Total, int64(500))
	})
	c.test("a full window and a long list of retries come back as they were", func(f *fixture) {
		s, job := f.sweeping()
		c := markAt(s, job, 10)
		c.Window, c.Pending = bytes.Repeat([]byte{0xA7, 0x00, 0x5C}, 683), json.RawMessage(`["`+strings.Repeat("é", 750)+`"]`)
		for range 3 {
			c.Mark++
			f.checkpoint(c)
		}
		shard := f.shards(s.ID)[0]
		f.equal("the window", shard.Window, c.Window)
		f.equal("the retries", shard.Pending, c.Pending)
	})
	c.test("Checkpoint fails with ErrLeaseLost unless the job runs under the fence", func(f *fixture) {
		s := f.cut(1)
		job := f.employ(s.ID, 0)[0]
		f.wantRefused(markAt(s, job, 1), fairlead.ErrLeaseLost) // no node runs the job
		first := f.claimThe(job, f.join())
		f.checkpoint(markAt(s, first, 2))
		wrong := markAt(s, first, 3)
		wrong.Fence++
		f.wantRefused(wrong, fairlead.ErrLeaseLost)
		f.crash(first)
		f.wantRefused(markAt(s, first, 4), fairlead.ErrLeaseLost) // the job was taken back
		second := f.claimThe(job, f.join())
		f.wantRefused(markAt(s, first, 5), fairlead.ErrLeaseLost) // another node runs the job
		f.checkpoint(markAt(s, second, 6))
		f.wantRefused(markAt(s, first, 7), fairlead.ErrLeaseLost)
		f.settle(to(fairlead.Succeed, second))
		f.wantRefused(markAt(s, second, 8), fairlead.ErrLeaseLost) // the job has ended
	})
	c.test("Checkpoint fails with ErrLeaseLost unless the job is that of the shard", func(f *fixture) {
		s := f.cut(3)
		f.employ(s.ID, 0, 1)
		jobs := f.claim(f.join(), 2)
		for _, number := range []int{1, 2, 3, -1} {
			c := markAt(s, jobs[0], 400)
			c.Number = number
			f.wantRefused(c, fairlead.ErrLeaseLost)
		}
		stranger := f.running()
		f.wantRefused(markAt(s, stranger, 1), fairlead.ErrLeaseLost)
		f.employ(s.ID, 0)
		f.wantRefused(markAt(s, jobs[0], 1), fairlead.ErrLeaseLost)
		other := markAt(s, jobs[1], 400)
		other.Sweep, other.Number = unknown, 1
		f.wantRefused(other, fairlead.ErrLeaseLost)
	})
	c.test("A mark that is smaller than the stored one is refused with ErrConflict", func(f *fixture) {
		s, job := f.sweeping()
		f.checkpoint(markAt(s, job, 50))
		f.wantRefused(markAt(s, job, 49), fairlead.ErrConflict)
		f.checkpoint(markAt(s, job, 50))
		f.crash(job)
		job = f.claimThe(job, f.join())
		f.wantRefused(markAt(s, job, 0), fairlead.ErrConflict)
		f.checkpoint(markAt(s, job, 51))
	})
	c.test("A sweep that is not running answers with Stop", func(f *fixture) {
		f.sweep("older", inState(sweep.Finished))
		s, job := f.sweeping()
		f.sweep("newer", inState(sweep.Finished))
		for _, step := range []struct {
			state sweep.State
			stop  bool
		}{
			{sweep.Running, false},
			{sweep.Stopping, true},
			{sweep.Stopped, true},
			{sweep.Finished, true},
			{sweep.Waiting, true},
			{sweep.Created, true},
			{sweep.Running, false},
		} {
			f.setState(s.ID, step.state)
			f.equal(string(step.state), f.checkpoint(markAt(s, job, 1)).Stop, step.stop)
		}
	})
	c.test("Checkpoint answers with the Data that counts from now on", func(f *fixture) {
		s, job := f.sweeping(func(s *sweep.Sweep) { s.Data = json.RawMessage(`{"n" : 1}`) })
		f.equal("the data", f.checkpoint(markAt(s, job, 1)).Data, json.RawMessage(`{"n" : 1}`))
		f.steer(s.ID, func(_ context.Context, s *sweep.Record, _ sweep.Tx) error {
			s.Data = nil
			return nil
		})
		f.equal("the data", f.checkpoint(markAt(s, job, 1)).Data, json.RawMessage(nil))
	})
	c.test("Left is what is left of the budget, over all shards", func(f *fixture) {
		s := f.cut(3, func(s *sweep.Sweep) { s.Budget.Items = 10 })
		f.employ(s.ID, 0, 1, 2)
		jobs := f.claim(f.join(), 3)
		left := func(number int, abandoned, want int64) {
			f.Helper()
			c := markAt(s, jobs[number], 400)
			c.Number, c.Done, c.Abandoned = number, 400, abandoned
			f.equal("what is left", f.checkpoint(c).Left, want)
		}
		left(0, 0, 10)
		left(1, 3, 7)
		left(2, 1, 6)
		left(1, 4, 5)
		left(0, 6, 0)
		f.steer(s.ID, func(_ context.Context, s *sweep.Record, _ sweep.Tx) error {
			s.Forgiven = 5
			return nil
		})
		left(0, 6, 4)
		now := f.theSweep(s.ID)
		now.Budget = sweep.Budget{Percent: 1}
		f.putSweep(now)
		left(0, 6, 13-6) // 1 percent of 1211 items
		f.steer(s.ID, func(_ context.Context, s *sweep.Record, tx sweep.Tx) error {
			s.Earlier = 100
			s.Lately = []sweep.Failing{{At: tx.Now(), Items: 9}, {At: tx.Now(), Items: 10}}
			s.Silent = []sweep.Silence{{Shard: 3, Since: tx.Now(), Free: true}, {Shard: 4}}
			return nil
		})
		left(0, 6, 12-6) // 1 percent of 1106 items since the sweep was started
		record := f.sweepRecord(s.ID)
		f.equal("what was seen", len(record.Lately), 2)
		f.equal("who was silent", record.Silent, []sweep.Silence{{Shard: 3, Since: record.Lately[0].At, Free: true}, {Shard: 4}})
		now = record.Sweep
		now.Budget = sweep.Budget{PerMinute: 3}
		f.putSweep(now)
		left(0, 6, 3-2) // 11 items have failed by now, 9 of them earlier
	})
	c.test("a run that stores how far it has come is no crash suspect", func(f *fixture) {
		s, job := f.sweeping()
		for range driver.SoloAfter + 1 {
			f.crash(job)
			job = f.claimThe(job, f.join())
			f.checkpoint(markAt(s, job, 1))
			f.equal("the crashes", f.get(job).Crashes, 0)
		}
	})
}

func testShares(c *chapter) {
	share := sweep.Share{Rate: 10.5, InFlight: 4}
	c.test("Grant stores Share of shards, and nothing else of them", func(f *fixture) {
		s := f.cut(3)
		f.employ(s.ID, 0)
		f.checkpoint(markAt(s, f.claim(f.join(), 1)[0], 10))
		want := f.shards(s.ID)
		want[2].Share, want[0].Share = share, sweep.Share{InFlight: 1}
		want[2].Told, want[0].Told = want[2].Share, want[0].Share
		f.steer(s.ID, func(ctx context.Context, _ *sweep.Record, tx sweep.Tx) error {
			return tx.Grant(ctx, []sweep.Shard{
				{Number: 2, From: 7, To: 8, Job: 9, Mark: 10, Share: share, Used: share, Ended: true, Fence: 11},
				{Number: 0, Share: sweep.Share{InFlight: 1}},
			})
		})
		f.equal("the shards", f.shards(s.ID), want)
	})
	c.test("Checkpoint answers with the share that was granted", func(f *fixture) {
		s, job := f.sweeping()
		f.equal("the share at first", f.checkpoint(markAt(s, job, 1)).Share, sweep.Share{})
		f.grant(s.ID, share)
		f.equal("the share", f.checkpoint(markAt(s, job, 1)).Share, share)
		f.grant(s.ID, sweep.Share{InFlight: 7})
		f.equal("the share then", f.checkpoint(markAt(s, job, 1)).Share, sweep.Share{InFlight: 7})
	})
	c.test("The first of a run forgets the shares of the run before", func(f *fixture) {
		s, job := f.sweeping()
		last := markAt(s, job, 1)
		f.checkpoint(last)
		f.grant(s.ID, share)
		last.Used = share
		f.equal("the share", f.checkpoint(last).Share, share)
		f.crash(job)
		job = f.claimThe(job, f.join())
		f.grant(s.ID, sweep.Share{Rate: 20, InFlight: 8}) // this grant is for the previous run, which is still known
		f.equal("the share of the next run", f.checkpoint(markAt(s, job, 1)).Share, sweep.Share{})
		shard := f.shards(s.ID)[0]
		f.equal("what is known of it", []sweep.Share{shard.Share, shard.Told, shard.Used}, []sweep.Share{{}, {}, {}})
		f.equal("the share after that", f.checkpoint(markAt(s, job, 1)).Share, sweep.Share{})
		f.grant(s.ID, share)
		f.equal("the share that it was granted", f.checkpoint(markAt(s, job, 1)).Share, share)
	})
	c.test("what a run may have been told counts until it has been told of its share", func(f *fixture) {
		s, job := f.sweeping()
		told := func(want sweep.Share) {
			f.Helper()
			f.equal("the most that it may have been told", f.shards(s.ID)[0].Told, want)
		}
		f.checkpoint(markAt(s, job, 1))
		told(sweep.Share{})
		f.grant(s.ID, sweep.Share{Rate: 10, InFlight: 1})
		f.grant(s.ID, sweep.Share{Rate: 5, InFlight: 2})
		told(sweep.Share{Rate: 10, InFlight: 2})
		f.grant(s.ID, sweep.Share{Rate: 7, InFlight: 1})
		told(sweep.Share{Rate: 10, InFlight: 2})
		f.checkpoint(markAt(s, job, 1))
		told(sweep.Share{Rate: 7, InFlight: 1})
		f.grant(s.ID, sweep.Share{Rate: 3, InFlight: 4})
		told(sweep.Share{Rate: 7, InFlight: 4})
		f.grant(s.ID, sweep.Share{Rate: 0, InFlight: 1})
		told(sweep.Share{Rate: 0, InFlight: 4})
		f.grant(s.ID, sweep.Share{Rate: 3, InFlight: 1})
		told(sweep.Share{Rate: 0, InFlight: 4})
		f.checkpoint(markAt(s, job, 1))
		told(sweep.Share{Rate: 3, InFlight: 1})
	})
}
