package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/sweep"
)

// soon is a retention of one hour for all outcomes.
var soon = driver.Retention{Succeeded: time.Hour, Failed: time.Hour, Cancelled: time.Hour, Skipped: time.Hour}

// pruneSoon deletes at most limit jobs, and returns their number.
func (f *fixture) pruneSoon(limit int) int {
	f.Helper()
	n, err := f.store.Prune(f.ctx(), soon, limit)
	f.ok(err)
	return n
}

// wantNeeded checks that a job cannot be deleted because another object has yet to process
// its end, and that the error suggests the remedy.
func (f *fixture) wantNeeded(job *fairlead.Job, remedy string) {
	f.Helper()
	err := operations(f.store).Delete(f.ctx(), job.ID)
	f.wantErr(err, fairlead.ErrConflict)
	if !strings.Contains(err.Error(), remedy) {
		f.Fatalf("the conflict says %q, want %q in it", err, remedy)
	}
	f.get(job)
}

// count records the ends of all tasks of a chunk, like conducting the batch does.
func (f *fixture) count(b batch.Batch, p batch.Chunk, marks string) {
	f.Helper()
	f.conduct(b.ID, func(ctx context.Context, _ *batch.Record, tx batch.Tx) error {
		return tx.SaveChunks(ctx, []batch.Chunk{marked(p, marks)})
	})
}

// testUnseenTasks covers jobs whose ends a batch has yet to count.
func testUnseenTasks(c *chapter) {
	for _, move := range []fairlead.Move{fairlead.Succeed, fairlead.Fail, fairlead.Drop} {
		c.test(named("Prune passes over a task that ended by", move, "until its batch has counted it"), func(f *fixture) {
			b, p := f.opened(3)
			f.letOut(b, p)
			for _, job := range f.claim(f.join(), 2) {
				f.settle(to(move, job))
			}
			f.Advance(2 * time.Hour)
			f.equal("how many are removed", f.pruneSoon(10), 0)
			f.count(b, p, "soo")
			f.equal("how many are removed once one is counted", f.pruneSoon(10), 1)
			f.count(b, p, "sso")
			f.equal("how many are removed once both are counted", f.pruneSoon(10), 1)
			f.equal("the rest", f.tally(fairlead.Filter{}), map[fairlead.State]int64{fairlead.Ready: 1})
		})
	}
	c.test("a batch that has completed, or is gone, keeps no job", func(f *fixture) {
		ended, p := f.opened(2)
		removed, q := f.opened(2)
		f.letOut(ended, p)
		f.letOut(removed, q)
		for _, job := range f.claim(f.join(), 4) {
			f.settle(to(fairlead.Succeed, job))
		}
		f.Advance(2 * time.Hour)
		f.change(ended.ID, func(b *batch.Record) { b.EndedAt = f.now() })
		f.equal("how many are removed", f.pruneSoon(10), 2)
		f.change(removed.ID, func(b *batch.Record) { b.EndedAt = f.now().Add(-2 * time.Hour) })
		f.pruneSoon(10)
		f.pruneSoon(10)
		f.equal("the rest", f.tally(fairlead.Filter{}), map[fairlead.State]int64{})
	})
	c.test("jobs that Prune passes over keep it from no other", func(f *fixture) {
		b, p := f.opened(20)
		f.letOut(b, p)
		node := f.join()
		for _, job := range f.claim(node, p.Size) {
			f.settle(to(fairlead.Succeed, job))
		}
		f.Advance(time.Minute)
		f.enqueue(many(3)...)
		for _, job := range f.claim(node, 3) {
			f.settle(to(fairlead.Succeed, job))
		}
		f.Advance(2 * time.Hour)
		f.equal("how many are removed", []int{f.pruneSoon(1), f.pruneSoon(1), f.pruneSoon(1), f.pruneSoon(1)}, []int{1, 1, 1, 0})
	})
	c.test("Delete refuses a task that its batch has not counted", func(f *fixture) {
		b, p := f.opened(2)
		jobs := f.letOut(b, p)
		f.settle(to(fairlead.Succeed, f.claimOne(f.join())))
		f.wantNeeded(jobs[0], "cancel")
		f.wantNeeded(jobs[1], "cancel")
		f.ok(operations(f.store).Cancel(f.ctx(), jobs[1].ID, ""))
		f.wantNeeded(jobs[1], "cancel")
		f.count(b, p, "sc")
		f.ok(operations(f.store).Delete(f.ctx(), jobs[0].ID))
		f.ok(operations(f.store).Delete(f.ctx(), jobs[1].ID))
	})
	c.test("what a task remembers may be any JSON", func(f *fixture) {
		b, p := f.opened(2)
		jobs := f.letOut(b, p)
		p.Held, p.Out, p.Before = 0, p.Size, map[int]json.RawMessage{1: json.RawMessage(`"\u0000"`)}
		f.conduct(b.ID, func(ctx context.Context, _ *batch.Record, tx batch.Tx) error {
			return tx.SaveChunks(ctx, []batch.Chunk{p})
		})
		f.settle(to(fairlead.Succeed, f.claimOne(f.join())))
		f.wantNeeded(jobs[0], "cancel")
		f.Advance(2 * time.Hour)
		f.equal("how many are removed", f.pruneSoon(10), 0)
	})
	c.test("of those who prune and those who conduct at once none makes a task vanish", func(f *fixture) {
		tasks := f.size(20, 60, "has more tasks")
		for range f.size(2, 4, "tries more often") {
			node := f.join()
			b, p := f.opened(tasks)
			f.letOut(b, p)
			for _, job := range f.claim(node, tasks) {
				f.settle(to(fairlead.Succeed, job))
			}
			f.Advance(2 * time.Hour)
			var pruned, conducted error
			g := f.elsewhere()
			together(
				func() {
					for range 10 {
						_, err := f.store.Prune(f.ctx(), soon, 7)
						pruned = errors.Join(pruned, err)
					}
				},
				func() {
					for range 3 {
						_, err := batch.Conduct(f.ctx(), g.store, b.ID)
						conducted = errors.Join(conducted, err)
					}
				},
			)
			f.ok(pruned)
			f.ok(conducted)
			f.equal("the tally", f.theBatch(b.ID).Tally, batch.Tally{Success: tasks})
		}
	})
}

// testUnseenRuns covers jobs whose ends a schedule has yet to process.
func testUnseenRuns(c *chapter) {
	for _, move := range []fairlead.Move{fairlead.Succeed, fairlead.Fail, fairlead.Drop} {
		c.test(named("Prune passes over a run that ended by", move, "until its schedule was told"), func(f *fixture) {
			s := f.plan("s", dueAt(f.now().Add(10_000*time.Hour)))
			fire := f.make(s, byHand(f.now()))
			f.ended(fire, move)
			want := f.get(jobOf(fire)).State
			f.Advance(2 * time.Hour)
			f.equal("how many are removed", f.pruneSoon(10), 0)
			ended := f.view(s).Ended
			f.equal("how many are told of", len(ended), 1)
			f.equal("how it is told to have ended", ended[0].State, want)
			f.equal("how many are removed then", f.pruneSoon(10), 1)
		})
		c.test(named("a run that had ended by", move, "before its job was deleted is told to have ended so"), func(f *fixture) {
			s := f.plan("s", dueAt(f.now().Add(10_000*time.Hour)))
			fire := f.make(s, byHand(f.now()))
			f.ended(fire, move)
			want := f.get(jobOf(fire)).State
			f.ok(operations(f.store).Delete(f.ctx(), fire.Job))
			ended := f.view(s).Ended
			f.equal("how many are told of", len(ended), 1)
			f.equal("how it is told to have ended", ended[0].State, want)
			f.equal("the runs", f.fires(s.ID), []schedule.Fire(nil))
		})
	}
	c.test("of several runs whose jobs were deleted each is told to have ended as it did", func(f *fixture) {
		s := f.plan("s", dueAt(f.now().Add(10_000*time.Hour)))
		fires := f.act(s, schedule.Plan{Fires: []schedule.PlannedFire{byHand(f.now()), byHand(f.now()), byHand(f.now())}})
		for i, move := range []fairlead.Move{fairlead.Fail, fairlead.Succeed} {
			f.ended(fires[i], move)
			f.ok(operations(f.store).Delete(f.ctx(), fires[i].Job))
		}
		f.ok(operations(f.store).Delete(f.ctx(), fires[2].Job))
		var states []fairlead.State
		for _, fire := range f.view(s).Ended {
			states = append(states, fire.State)
		}
		f.equal("how they are told to have ended", states, []fairlead.State{fairlead.Failed, fairlead.Succeeded, fairlead.Cancelled})
	})
	c.test("a run of a deleted schedule that was retried keeps its job from Prune no longer than others", func(f *fixture) {
		s := f.plan("s", dueAt(f.now().Add(10_000*time.Hour)))
		fire := f.make(s, byHand(f.now()))
		f.ended(fire, fairlead.Fail)
		f.ok(f.store.DeleteSchedule(f.ctx(), s.ID))
		f.ok(operations(f.store).Reopen(f.ctx(), fire.Job))
		f.ended(fire, fairlead.Succeed)
		f.Advance(2 * time.Hour)
		f.tick(leave)
		f.equal("how many are removed", f.pruneSoon(10), 1)
	})
	c.test("a run whose job was deleted before it began is told to be cancelled", func(f *fixture) {
		s := f.plan("s", dueAt(f.now().Add(10_000*time.Hour)))
		fire := f.make(s, byHand(f.now()))
		f.ok(operations(f.store).Delete(f.ctx(), fire.Job))
		ended := f.view(s).Ended
		f.equal("how many are told of", len(ended), 1)
		f.equal("how it is told to have ended", ended[0].State, fairlead.Cancelled)
	})
}

// testUnseenShards covers jobs that process shards of a sweep.
func testUnseenShards(c *chapter) {
	c.test("Prune passes over the job of a shard that has not ended while its sweep runs", func(f *fixture) {
		s := f.cut(2)
		f.employ(s.ID, 0, 1)
		for _, job := range f.claim(f.join(), 2) {
			f.settle(to(fairlead.Fail, job))
		}
		f.Advance(2 * time.Hour)
		f.equal("how many are removed", f.pruneSoon(10), 0)
		f.setState(s.ID, sweep.Stopped)
		f.equal("how many are removed when it was stopped", f.pruneSoon(10), 2)
	})
	c.test("Prune removes the job of a shard that has ended", func(f *fixture) {
		s := f.cut(2)
		f.employ(s.ID, 0, 1)
		for i, job := range f.claim(f.join(), 2) {
			_, err := f.store.Checkpoint(f.ctx(), sweep.Checkpoint{Sweep: s.ID, Number: i, Job: job.ID, Fence: job.Fence, Mark: int64(100 * (i + 1)), Ended: true})
			f.ok(err)
			f.settle(to(fairlead.Succeed, job))
		}
		f.Advance(2 * time.Hour)
		f.equal("how many are removed", f.pruneSoon(10), 2)
	})
	c.test("other shards, of its sweep or of another, keep no job of one that has ended", func(f *fixture) {
		f.cut(2)
		s := f.cut(3)
		job := f.claimThe(f.employ(s.ID, 0)[0], f.join())
		last := markAt(s, job, 100)
		last.Ended = true
		f.checkpoint(last)
		f.settle(to(fairlead.Succeed, job))
		f.ok(operations(f.store).Delete(f.ctx(), job.ID))
	})
	c.test("Delete refuses the job of a shard that has not ended while its sweep runs", func(f *fixture) {
		s := f.cut(2)
		jobs := f.employ(s.ID, 0, 1)
		f.settle(to(fairlead.Fail, f.claimOne(f.join())))
		f.wantNeeded(jobs[0], "stop")
		f.wantNeeded(jobs[1], "stop")
		f.setState(s.ID, sweep.Stopped)
		f.ok(operations(f.store).Delete(f.ctx(), jobs[0].ID))
		f.ok(operations(f.store).Delete(f.ctx(), jobs[1].ID))
	})
}
