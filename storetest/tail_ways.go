package storetest

import (
	"context"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/sweep"
)

// storingWay is a way of storing jobs of a kind: prepare stores the first, so that the
// store caches the lane, and again stores others.
type storingWay struct {
	name    string
	prepare func(f *fixture, kind string) (again func())
}

// enqueuing returns the way of creating and enqueuing jobs.
func enqueuing(name string, n int, changes ...func(*fairlead.Job)) storingWay {
	return storingWay{name, func(f *fixture, kind string) func() {
		round := 0
		store := func() {
			f.Helper()
			round++
			jobs := many(n, append([]func(*fairlead.Job){ofKind(kind)}, changes...)...)
			for i, job := range jobs {
				if job.Key != "" {
					job.Key = fmt.Sprint(kind, round, i)
				}
			}
			f.enqueue(jobs...)
		}
		store()
		return store
	}}
}

// inFuture schedules a job so late that the clock of no harness reaches the time.
func inFuture(job *fairlead.Job) { job.NotBefore = fairlead.Never.AddDate(-1, 0, 0) }

var storingWays = []storingWay{
	enqueuing("one job", 1),
	enqueuing("many jobs", 50),
	enqueuing("a job for later", 1, inFuture),
	enqueuing("a job behind a gate", 1, behind("gate")),
	enqueuing("a job with a key", 1, keyed("key")),
	enqueuing("many jobs with keys", 20, keyed("key")),
	{"in a caller's transaction", func(f *fixture, kind string) func() {
		f.enqueue(with(ofKind(kind)))
		return func() {
			f.Helper()
			tx := f.begin()
			jobs := many(2, ofKind(kind))
			f.ok(fairlead.NormalizeJobs(jobs))
			f.ok(tx.Tx.Enqueue(f.ctx(), jobs))
			keys := many(2, ofKind(kind), keyed(kind))
			keys[1].Key += "-other"
			f.ok(fairlead.NormalizeJobs(keys))
			f.ok(tx.Tx.Enqueue(f.ctx(), keys))
			f.ok(tx.Commit())
			tx.Tx.Wake()
		}
	}},
	{"a job that replaces another", func(f *fixture, kind string) func() {
		job := f.running(ofKind(kind), inQueue(kind))
		return func() { f.Helper(); f.settle(replacedBy(job, with(ofKind(kind), inQueue(kind)))) }
	}},
	{"a job that replaces another in a caller's transaction", func(f *fixture, kind string) func() {
		job := f.running(ofKind(kind), inQueue(kind))
		return func() {
			f.Helper()
			tx := f.begin()
			settled, err := tx.Tx.Settle(f.ctx(), []fairlead.Settlement{replacedBy(job, with(ofKind(kind), inQueue(kind)))})
			f.ok(err)
			f.equal("settled", settled, []fairlead.Settled{fairlead.SettledAsAsked})
			f.ok(tx.Commit())
			tx.Tx.Wake()
		}
	}},
	{"a run of a schedule", func(f *fixture, kind string) func() {
		f.plan(kind, func(s *schedule.Schedule) { s.Job.Kind = kind })
		f.tick(runIt)
		return func() {
			f.Helper()
			f.Advance(time.Hour)
			f.tick(runIt)
		}
	}},
	{"a run of a schedule that is skipped", func(f *fixture, kind string) func() {
		f.plan(kind, func(s *schedule.Schedule) { s.Job.Kind = kind })
		f.tick(runIt)
		return func() {
			f.Helper()
			f.Advance(time.Hour)
			f.tick(skipIt)
		}
	}},
	{"a run of a schedule that is new", func(f *fixture, kind string) func() {
		f.enqueue(with(ofKind(kind)))
		return func() {
			f.Helper()
			f.plan(kind, func(s *schedule.Schedule) { s.Job.Kind = kind })
			f.tick(runIt)
		}
	}},
	{"the tasks of a batch", func(f *fixture, kind string) func() {
		f.enqueue(with(ofKind(kind)))
		b, p := f.opened(3)
		return func() {
			f.Helper()
			f.conduct(b.ID, func(ctx context.Context, _ *batch.Record, tx batch.Tx) error {
				return tx.Enqueue(ctx, taskJobs(b, p, ofKind(kind)))
			})
		}
	}},
	{"the jobs of a sweep", func(f *fixture, kind string) func() {
		f.enqueue(with(ofKind(kind)))
		s := f.sweep(kind)
		return func() {
			f.Helper()
			f.steer(s.ID, func(ctx context.Context, _ *sweep.Record, tx sweep.Tx) error {
				jobs := many(2, ofKind(kind))
				if err := fairlead.NormalizeJobs(jobs); err != nil {
					return err
				}
				return tx.Enqueue(ctx, jobs)
			})
		}
	}},
}

// skipIt plans that the run of the due instant is skipped.
func skipIt(s schedule.Schedule, view schedule.View) schedule.Plan {
	plan := runIt(s, view)
	for i := range plan.Fires {
		plan.Fires[i].Skip = schedule.SkipOverlap
	}
	return plan
}

// replacedBy returns the settlement of a job that is replaced by another.
func replacedBy(job, successor *fairlead.Job) fairlead.Settlement {
	settlement := to(fairlead.Succeed, job)
	settlement.Replace = successor
	return settlement
}
