package storetest

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
)

// edgeCall is a call to a store with input that is easy to treat differently: empty values,
// objects that do not exist or are in another state, duplicate names. The answers of the
// stores are compared.
type edgeCall struct {
	name string
	make func(f *fixture) (answer any, err error)
}

// everyState lists the states that a job can be brought into directly.
var everyState = []fairlead.State{
	fairlead.Scheduled, fairlead.Ready, fairlead.Running, fairlead.Waiting, fairlead.Succeeded, fairlead.Failed, fairlead.Cancelled,
}

// noJob is an ID that no job ever had.
const noJob = math.MaxInt32

// jobEdges returns calls for jobs and nodes.
func (f *fixture) jobEdges() []edgeCall {
	return slices.Concat(f.operateEdges(), f.settleEdges(), f.toldEdges(), f.nodeEdges())
}

// operateEdges returns calls that operators make for jobs.
func (f *fixture) operateEdges() []edgeCall {
	ctx := f.ctx()
	var calls []edgeCall
	add := func(name string, do func(f *fixture) (any, error)) { calls = append(calls, edgeCall{name, do}) }
	verbs := map[string]func(id int64) error{
		"Cancel":      func(id int64) error { return operations(f.store).Cancel(ctx, id, "why") },
		"Reopen":      func(id int64) error { return operations(f.store).Reopen(ctx, id) },
		"Reschedule":  func(id int64) error { return operations(f.store).Reschedule(ctx, id, f.now().Add(time.Hour)) },
		"RunNow":      func(id int64) error { return operations(f.store).RunNow(ctx, id) },
		"SetPriority": func(id int64) error { return operations(f.store).SetPriority(ctx, id, 3) },
		"SetQueue":    func(id int64) error { return operations(f.store).SetQueue(ctx, id, "elsewhere") },
		"Delete":      func(id int64) error { return operations(f.store).Delete(ctx, id) },
	}
	for _, verb := range []string{"Cancel", "Reopen", "Reschedule", "RunNow", "SetPriority", "SetQueue", "Delete"} {
		for _, id := range []int64{noJob, 0, -1} {
			add(fmt.Sprintf("%s of job %d", verb, id), func(*fixture) (any, error) { return nil, verbs[verb](id) })
		}
		for _, state := range everyState {
			add(fmt.Sprintf("%s of a %s job", verb, state), func(f *fixture) (any, error) { return nil, verbs[verb](f.in(state).ID) })
		}
	}
	return calls
}

// settleEdges returns settlements and answers.
func (f *fixture) settleEdges() []edgeCall {
	ctx := f.ctx()
	var calls []edgeCall
	add := func(name string, do func(f *fixture) (any, error)) { calls = append(calls, edgeCall{name, do}) }
	for _, move := range []fairlead.Move{fairlead.Succeed, fairlead.Fail, fairlead.Drop, fairlead.Again, fairlead.Snooze, fairlead.MoveRelease, fairlead.MoveAwait, "", "fly"} {
		for _, state := range everyState {
			add(fmt.Sprintf("Settle %q of a %s job", move, state), func(f *fixture) (any, error) {
				job := f.in(state)
				return f.store.Settle(ctx, []fairlead.Settlement{{ID: job.ID, Fence: job.Fence, Move: move}})
			})
			add(fmt.Sprintf("Resolve %q of a %s job", move, state), func(f *fixture) (any, error) {
				job := f.in(state)
				return nil, f.store.Resolve(ctx, fairlead.Settlement{ID: job.ID, Fence: job.Fence, Move: move})
			})
		}
		add(fmt.Sprintf("Resolve %q with another fence", move), func(f *fixture) (any, error) {
			job := f.in(fairlead.Waiting)
			return nil, f.store.Resolve(ctx, fairlead.Settlement{ID: job.ID, Fence: job.Fence + 1, Move: move})
		})
		add(fmt.Sprintf("Resolve %q of no job", move), func(f *fixture) (any, error) {
			return nil, f.store.Resolve(ctx, fairlead.Settlement{ID: noJob, Move: move})
		})
	}
	add("Resolve a waiting job after its deadline", func(f *fixture) (any, error) {
		job := f.in(fairlead.Waiting)
		f.Advance(48 * time.Hour)
		return nil, f.store.Resolve(ctx, success(job, "1"))
	})
	for _, late := range []time.Duration{-time.Microsecond, 0, time.Microsecond} {
		add(fmt.Sprintf("Resolve a waiting job %v after its deadline", late), func(f *fixture) (any, error) {
			job := f.running()
			settlement := to(fairlead.MoveAwait, job)
			settlement.After = time.Hour
			f.settle(settlement)
			f.Advance(time.Hour + late)
			return nil, f.store.Resolve(ctx, success(job, "1"))
		})
		add(fmt.Sprintf("Extend and Expire a waiting job %v after its deadline", late), func(f *fixture) (any, error) {
			job := f.running()
			settlement := to(fairlead.MoveAwait, job)
			settlement.After = time.Hour
			f.settle(settlement)
			f.Advance(time.Hour + late)
			expired, err := expireOverdue(ctx, f.store, 10)
			f.ok(err)
			_, err = f.store.Extend(ctx, fairlead.Extension{ID: job.ID, Fence: job.Fence, For: time.Minute})
			return expired, err
		})
	}
	add("Resolve twice, differently", func(f *fixture) (any, error) {
		job := f.in(fairlead.Waiting)
		f.ok(f.store.Resolve(ctx, success(job, "1")))
		return nil, f.store.Resolve(ctx, success(job, "2"))
	})
	add("Resolve a running job twice, differently", func(f *fixture) (any, error) {
		job := f.running()
		f.ok(f.store.Resolve(ctx, success(job, "1")))
		return nil, f.store.Resolve(ctx, failure(job, "x"))
	})
	add("Settle nothing", func(f *fixture) (any, error) { return f.store.Settle(ctx, nil) })
	add("Settle one twice in a call", func(f *fixture) (any, error) {
		job := f.running()
		return f.store.Settle(ctx, []fairlead.Settlement{to(fairlead.Succeed, job), to(fairlead.Succeed, job)})
	})
	add("Settle one twice in a call, differently", func(f *fixture) (any, error) {
		job := f.running()
		return f.store.Settle(ctx, []fairlead.Settlement{to(fairlead.Fail, job), to(fairlead.Succeed, job)})
	})
	add("Settle a good one and an unknown move", func(f *fixture) (any, error) {
		job := f.running()
		settled, err := f.store.Settle(ctx, []fairlead.Settlement{to(fairlead.Succeed, job), {ID: job.ID, Fence: job.Fence, Move: "fly"}})
		return []any{settled, f.get(job).State}, err
	})
	for name, bad := range map[string]*fairlead.Job{"without a kind": {}, "of a taken key": with(keyed("taken"))} {
		add("Settle with a replacement "+name, func(f *fixture) (any, error) {
			f.enqueue(with(keyed("taken")))
			job := f.running(ofKind("other"))
			replacement := *bad
			settlement := to(fairlead.Succeed, job)
			settlement.Replace, settlement.Output = &replacement, json.RawMessage("7")
			settled, err := f.store.Settle(ctx, []fairlead.Settlement{settlement})
			found := f.get(job)
			return []any{settled, found.State, found.Reason, found.Error, string(found.Output), replacement.ID}, err
		})
	}
	for _, move := range []fairlead.Move{fairlead.Succeed, fairlead.Fail, fairlead.Again} {
		for _, state := range []fairlead.State{fairlead.Running, fairlead.Waiting} {
			add(fmt.Sprintf("Resolve %s of a %s job with a memo and progress", move, state), func(f *fixture) (any, error) {
				job := f.running()
				if state == fairlead.Waiting {
					f.settle(wait(job))
				}
				err := f.store.Resolve(ctx, fairlead.Settlement{ID: job.ID, Fence: job.Fence, Move: move, Memo: json.RawMessage(`{"m":1}`), Progress: json.RawMessage(`2`)})
				if state == fairlead.Running {
					f.settle(wait(job))
				}
				found := f.get(job)
				return []any{found.State, string(found.Memo), string(found.Progress)}, err
			})
		}
	}
	for _, first := range []fairlead.Move{fairlead.Succeed, fairlead.Fail, fairlead.Drop, fairlead.Again, fairlead.MoveAwait} {
		for _, second := range []fairlead.Move{fairlead.Succeed, fairlead.Fail, fairlead.Drop, fairlead.Again, fairlead.Snooze, fairlead.MoveRelease, fairlead.MoveAwait} {
			add(fmt.Sprintf("Settle %s after %s by the same fence", second, first), func(f *fixture) (any, error) {
				job := f.running()
				f.settle(fairlead.Settlement{ID: job.ID, Fence: job.Fence, Move: first, After: time.Minute})
				return f.store.Settle(ctx, []fairlead.Settlement{{ID: job.ID, Fence: job.Fence, Move: second, After: time.Minute}})
			})
		}
	}
	return calls
}
