package engine_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/engine"
)

// orphan leaves a job behind that is leased to a dead node.
func (w *world) orphan(job *fairlead.Job) {
	w.t.Helper()
	w.enqueue(job)
	dead, err := w.store.Join(w.t.Context(), fairlead.Node{}, time.Second)
	if err != nil {
		w.t.Fatal(err)
	}
	claimed, err := w.store.Claim(w.t.Context(), driver.Claim{Node: dead, Scope: &driver.Scope{Kinds: []string{job.Kind}}, Max: 1})
	if err != nil || len(claimed) != 1 {
		w.t.Fatalf("claimed %d jobs, %v", len(claimed), err)
	}
}

// Every node misses a beat now and then, as on a machine that is starved: none is ever
// steady for a whole lease.
func TestNodesThatAreNeverSteadyTakeJobsBackAllTheSame(t *testing.T) {
	inBubble(t, func(w *world) {
		var beats atomic.Int64
		w.engineStore = &awkward{Store: w.store, beat: func(context.Context) error {
			if beats.Add(1)%4 == 0 {
				return errors.New("no answer in time")
			}
			return nil
		}}
		w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
		job, log := &fairlead.Job{Kind: "k"}, &lines{}
		w.orphan(job)
		options := engine.Options{Lease: 10 * time.Second, Beat: 2 * time.Second, Logger: slog.New(slog.NewJSONHandler(log, nil))}
		w.run(options, func() {
			pass(2 * time.Minute)
			if got := w.get(job); got.State != fairlead.Succeeded {
				t.Errorf("after two minutes the job of a dead node is %s", got.State)
			}
		})
		if len(log.with(t, "heartbeats keep failing: reclaiming jobs of dead nodes anyway")) == 0 {
			t.Error("the log does not tell that no node is steady")
		}
	})
}

// idleReaper is a store that takes nothing back, as if the jobs stayed locked.
type idleReaper struct{ driver.Store }

func (idleReaper) Reap(context.Context, driver.Reap) (driver.Reaped, error) {
	return driver.Reaped{}, nil
}

// asked is a store that counts how often the jobs of each node are asked for.
type asked struct {
	driver.Store
	mu    sync.Mutex
	times map[fairlead.NodeID]int
}

func (a *asked) Held(ctx context.Context, node fairlead.NodeID) ([]driver.Held, error) {
	a.mu.Lock()
	a.times[node]++
	a.mu.Unlock()
	return a.Store.Held(ctx, node)
}

func TestADeadNodeThatHoldsNothingIsNotAskedAgain(t *testing.T) {
	inBubble(t, func(w *world) {
		store := &asked{Store: w.store, times: map[fairlead.NodeID]int{}}
		w.engineStore = store
		w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
		dead, err := w.store.Join(w.t.Context(), fairlead.Node{}, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		w.run(engine.Options{Lease: 10 * time.Second}, func() { pass(3 * time.Minute) })
		if n := store.times[dead]; n != 1 {
			t.Errorf("it was asked %d times", n)
		}
	})
}

// unreaped remembers what is left of dead nodes.
type unreaped struct {
	engine.NoObserver
	jobs atomic.Int64
}

func (u *unreaped) Unreaped(jobs int) { u.jobs.Store(int64(jobs)) }

func TestJobsThatNoNodeTakesBackAreComplainedOf(t *testing.T) {
	inBubble(t, func(w *world) {
		w.engineStore = idleReaper{w.store}
		w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
		job, log, seen := &fairlead.Job{Kind: "k"}, &lines{}, &unreaped{}
		w.orphan(job)
		options := engine.Options{Lease: 10 * time.Second, Observer: seen, Logger: slog.New(slog.NewJSONHandler(log, nil))}
		w.run(options, func() {
			pass(30 * time.Second)
			if complaints := log.with(t, "jobs of dead nodes are not reclaimed"); len(complaints) > 0 || seen.jobs.Load() != 0 {
				t.Errorf("before it was due: %v", complaints)
			}
			pass(time.Minute)
			complaints := log.with(t, "jobs of dead nodes are not reclaimed")
			if len(complaints) == 0 || complaints[0]["level"] != "ERROR" || complaints[0]["jobs"] != 1.0 || seen.jobs.Load() != 1 {
				t.Errorf("the complaints are %v, %d jobs", complaints, seen.jobs.Load())
			}
			if _, err := w.store.Reap(w.t.Context(), driver.Reap{MaxCrashes: 9, Limit: 10}); err != nil {
				t.Fatal(err)
			}
			pass(30 * time.Second)
			before := len(log.with(t, "jobs of dead nodes are not reclaimed"))
			pass(time.Minute)
			if after := len(log.with(t, "jobs of dead nodes are not reclaimed")); after > before || seen.jobs.Load() != 0 {
				t.Errorf("%d complaints came after the job was taken back", after-before)
			}
		})
	})
}
