package storetest

import (
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/schedule"
)

// toldEdges returns calls that report the ends of jobs.
func (f *fixture) toldEdges() []edgeCall {
	ctx := f.ctx()
	var calls []edgeCall
	add := func(name string, do func(f *fixture) (any, error)) { calls = append(calls, edgeCall{name, do}) }
	told := func(job *fairlead.Job) (any, error) {
		found := f.get(job)
		var attempts []string
		for _, a := range f.attempts(job) {
			attempts = append(attempts, fmt.Sprint(a.Reason, " ", a.Error))
		}
		return []any{found.State, found.Reason, found.Error, attempts}, nil
	}
	add("what Expire tells", func(f *fixture) (any, error) {
		job := f.in(fairlead.Waiting)
		f.Advance(48 * time.Hour)
		_, err := expireOverdue(ctx, f.store, 10)
		f.ok(err)
		return told(job)
	})
	for _, crashes := range []int{0, 5} {
		for name, change := range map[string]func(*fairlead.Job){"revived": func(*fairlead.Job) {}, "cancelled": cancelOnCrash} {
			add(fmt.Sprintf("what Reap tells of a job that is %s and may crash %d times", name, crashes), func(f *fixture) (any, error) {
				job := f.running(change)
				nodes, err := f.store.Nodes(ctx)
				f.ok(err)
				for _, node := range nodes {
					f.ok(f.store.Leave(ctx, node.ID))
				}
				_, err = f.store.Reap(ctx, driver.Reap{MaxCrashes: crashes, Limit: 10})
				f.ok(err)
				return told(job)
			})
		}
	}
	add("what Cancel tells", func(f *fixture) (any, error) {
		job := f.enqueue(plain())
		f.ok(operations(f.store).Cancel(ctx, job.ID, "why"))
		return told(job)
	})
	add("what Cancel tells without a reason", func(f *fixture) (any, error) {
		job := f.running()
		f.ok(operations(f.store).Cancel(ctx, job.ID, ""))
		_, err := f.store.Settle(ctx, []fairlead.Settlement{again(job, time.Minute)})
		f.ok(err)
		return told(job)
	})
	add("what a duplicate that replaces tells", func(f *fixture) (any, error) {
		job := f.enqueue(with(keyed("k")))
		f.enqueue(with(keyed("k"), onDuplicate(fairlead.ReplaceDuplicate)))
		return told(job)
	})
	add("what a deleted schedule tells its queued runs", func(f *fixture) (any, error) {
		s := f.plan("s")
		fire := f.make(s, queued(f.now()))
		f.ok(f.store.DeleteSchedule(ctx, s.ID))
		return told(jobOf(fire))
	})
	add("what a later run tells the one that it replaces", func(f *fixture) (any, error) {
		s := f.plan("s")
		fire := f.make(s, byHand(f.now()))
		f.act(s, schedule.Plan{Cancel: []int64{fire.Job}, Cursor: s.Cursor})
		return told(jobOf(fire))
	})
	add("what a skipped run tells", func(f *fixture) (any, error) { return told(jobOf(f.make(f.plan("s"), skipped(f.now())))) })
	add("what a run tells whose job is refused", func(f *fixture) (any, error) {
		f.enqueue(with(keyed("k")))
		return told(jobOf(f.make(f.plan("s", making(keyed("k"))), byHand(f.now()))))
	})
	return calls
}
