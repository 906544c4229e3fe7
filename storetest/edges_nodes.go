package storetest

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// nodeEdges returns the other calls of nodes and callers.
func (f *fixture) nodeEdges() []edgeCall {
	ctx := f.ctx()
	var calls []edgeCall
	add := func(name string, do func(f *fixture) (any, error)) { calls = append(calls, edgeCall{name, do}) }
	add("Save of no job", func(f *fixture) (any, error) { return nil, f.store.Save(ctx, fairlead.Save{ID: noJob, Fence: 1}) })
	add("Save of a waiting job", func(f *fixture) (any, error) {
		job := f.in(fairlead.Waiting)
		return nil, f.store.Save(ctx, fairlead.Save{ID: job.ID, Fence: job.Fence, Memo: json.RawMessage("1")})
	})
	add("Save of nothing", func(f *fixture) (any, error) {
		job := f.running()
		return nil, f.store.Save(ctx, fairlead.Save{ID: job.ID, Fence: job.Fence})
	})
	for _, state := range everyState {
		add(fmt.Sprintf("Extend a %s job", state), func(f *fixture) (any, error) {
			job := f.in(state)
			_, err := f.store.Extend(ctx, fairlead.Extension{ID: job.ID, Fence: job.Fence, For: time.Minute})
			return nil, err
		})
	}
	add("Extend no job", func(f *fixture) (any, error) {
		_, err := f.store.Extend(ctx, fairlead.Extension{ID: noJob, For: time.Minute})
		return nil, err
	})
	for _, id := range []int64{noJob, 0, -1} {
		add(fmt.Sprintf("Get of job %d", id), func(f *fixture) (any, error) { return f.store.Get(ctx, id) })
		add(fmt.Sprintf("Attempts of job %d", id), func(f *fixture) (any, error) { return f.store.Attempts(ctx, id) })
		add(fmt.Sprintf("Explain of job %d", id), func(f *fixture) (any, error) {
			_, err := f.store.Explain(ctx, id)
			return nil, err
		})
	}
	add("Enqueue nothing", func(f *fixture) (any, error) { return nil, f.store.Enqueue(ctx, nil) })
	add("Enqueue one key twice", func(f *fixture) (any, error) { return nil, f.tryEnqueue(with(keyed("k")), with(keyed("k"))) })
	add("Enqueue a taken key", func(f *fixture) (any, error) {
		f.enqueue(with(keyed("k")))
		return nil, f.tryEnqueue(plain(), with(keyed("k")), with(keyed("k")))
	})
	add("EnqueueOnce, then another request", func(f *fixture) (any, error) {
		once := fairlead.Once{Caller: "ann", Key: "k", Request: [32]byte{1}}
		_, err := f.store.EnqueueOnce(ctx, once, []*fairlead.Job{f.normal()})
		f.ok(err)
		once.Request = [32]byte{2}
		return f.store.EnqueueOnce(ctx, once, []*fairlead.Job{f.normal()})
	})
	add("EnqueueOnce of nothing", func(f *fixture) (any, error) {
		return f.store.EnqueueOnce(ctx, fairlead.Once{Caller: "ann", Key: "n", Request: [32]byte{1}}, nil)
	})
	for _, limit := range []int{0, -1} {
		add(fmt.Sprint("Promote ", limit), func(f *fixture) (any, error) {
			f.in(fairlead.Scheduled)
			f.Advance(48 * time.Hour)
			return f.store.Promote(ctx, limit)
		})
		add(fmt.Sprint("Reap ", limit), func(f *fixture) (any, error) { return f.store.Reap(ctx, driver.Reap{Limit: limit}) })
		add(fmt.Sprint("Expire ", limit), func(f *fixture) (any, error) {
			f.in(fairlead.Waiting)
			f.Advance(48 * time.Hour)
			return expireOverdue(ctx, f.store, limit)
		})
		add(fmt.Sprint("Prune ", limit), func(f *fixture) (any, error) {
			f.in(fairlead.Succeeded)
			f.Advance(48 * time.Hour)
			return f.store.Prune(ctx, driver.Retention{Succeeded: time.Second}, limit)
		})
		add(fmt.Sprint("Claim ", limit), func(f *fixture) (any, error) {
			f.enqueue(plain())
			return f.store.Claim(ctx, driver.Claim{Node: f.join(), Scope: &driver.Scope{Kinds: []string{kind}}, Max: limit})
		})
		add(fmt.Sprint("Tick ", limit), func(f *fixture) (any, error) {
			f.plan("s")
			ticked, err := f.store.Tick(ctx, limit, leave)
			return []any{ticked.Schedules, ticked.Runs, ticked.Next}, err
		})
		add(fmt.Sprint("Find with Limit ", limit), func(f *fixture) (any, error) {
			f.enqueue(plain())
			found, err := f.store.Find(ctx, fairlead.Filter{Limit: limit})
			return len(found), err
		})
	}
	add("Claim of an unknown node", func(f *fixture) (any, error) {
		return f.store.Claim(ctx, driver.Claim{Node: noJob, Scope: &driver.Scope{Kinds: []string{kind}}, Max: 1})
	})
	add("Claim without kinds", func(f *fixture) (any, error) {
		f.enqueue(plain())
		return f.store.Claim(ctx, driver.Claim{Node: f.join(), Scope: &driver.Scope{}, Max: 1})
	})
	add("Beat of an unknown node", func(f *fixture) (any, error) {
		return f.store.Beat(ctx, driver.Beat{Node: noJob, Lease: time.Minute})
	})
	add("Leave of an unknown node", func(f *fixture) (any, error) { return nil, f.store.Leave(ctx, noJob) })
	add("Drain of an unknown node", func(f *fixture) (any, error) { return nil, f.store.Drain(ctx, noJob, true) })
	add("Held of an unknown node", func(f *fixture) (any, error) { return f.store.Held(ctx, noJob) })
	add("Report nothing", func(f *fixture) (any, error) { return nil, f.store.Report(ctx, nil) })
	add("Pause twice", func(f *fixture) (any, error) {
		f.ok(f.store.Pause(ctx, fairlead.Pause{Scope: fairlead.PauseQueue, Name: "q"}))
		return nil, f.store.Pause(ctx, fairlead.Pause{Scope: fairlead.PauseQueue, Name: "q"})
	})
	add("Resume what is not paused", func(f *fixture) (any, error) {
		return nil, f.store.Resume(ctx, fairlead.Pause{Scope: fairlead.PauseQueue, Name: "z"})
	})
	return calls
}
