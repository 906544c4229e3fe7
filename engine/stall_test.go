package engine_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/engine"
)

// stuck is a store of which one claim does not return.
type stuck struct {
	driver.Store
	hangs   atomic.Bool // the next claim for jobs that are no suspects does
	release chan struct{}
}

func (s *stuck) Claim(ctx context.Context, claim driver.Claim) ([]*fairlead.Job, error) {
	if !claim.Solo && s.hangs.CompareAndSwap(true, false) {
		<-s.release
		return nil, nil
	}
	return s.Store.Claim(ctx, claim)
}

// stalls counts stalls.
type stalls struct {
	engine.NoObserver
	count atomic.Int32
}

func (s *stalls) Stalled() { s.count.Add(1) }

func TestANodeThatStallsBeginsToClaimAnew(t *testing.T) {
	inBubble(t, func(w *world) {
		hanging := &stuck{Store: w.store, release: make(chan struct{})}
		w.engineStore = hanging
		w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
		seen := &stalls{}
		job := &fairlead.Job{Kind: "k"}
		w.run(engine.Options{Lease: time.Hour, Poll: time.Second, Observer: seen}, func() {
			pass(time.Minute) // the node has looked around
			hanging.hangs.Store(true)
			w.enqueue(job)
			pass(8 * time.Second)
			if got := w.get(job); got.State != fairlead.Ready || seen.count.Load() != 0 {
				t.Errorf("before ten polls the job is %s, after %d stalls", got.State, seen.count.Load())
			}
			pass(15 * time.Second)
			if got := w.get(job); got.State != fairlead.Succeeded || seen.count.Load() != 1 {
				t.Errorf("the job is %s, after %d stalls", got.State, seen.count.Load())
			}
			close(hanging.release)
		})
	})
}

// Source 000, SchedulerServer: blockingCountLimit is configured.
func TestAfterHowManyPollsANodeHasStalledIsAnOption(t *testing.T) {
	inBubble(t, func(w *world) {
		hanging := &stuck{Store: w.store, release: make(chan struct{})}
		w.engineStore = hanging
		w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
		seen := &stalls{}
		job := &fairlead.Job{Kind: "k"}
		w.run(engine.Options{Lease: time.Hour, Poll: time.Second, Observer: seen, BlockingCountLimit: 3}, func() {
			pass(time.Minute) // the node has looked around
			hanging.hangs.Store(true)
			w.enqueue(job)
			pass(8 * time.Second)
			if got := w.get(job); got.State != fairlead.Succeeded || seen.count.Load() != 1 {
				t.Errorf("the job is %s, after %d stalls", got.State, seen.count.Load())
			}
			close(hanging.release)
		})
	})
}

func TestANodeThatHasNothingToClaimAnyMoreIsNotStalled(t *testing.T) {
	inBubble(t, func(w *world) {
		hanging := &stuck{Store: w.store, release: make(chan struct{})}
		w.engineStore = hanging
		w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
		seen := &stalls{}
		w.run(engine.Options{Lease: time.Hour, Poll: time.Second, Observer: seen}, func() {
			pass(time.Minute) // the node has looked around
			hanging.hangs.Store(true)
			job := &fairlead.Job{Kind: "k"}
			w.enqueue(job)
			pass(12 * time.Second) // the first look has found it
			if err := w.client.Cancel(w.t.Context(), job.ID, "too late"); err != nil {
				t.Fatal(err)
			}
			pass(time.Minute)
			close(hanging.release)
		})
		if n := seen.count.Load(); n != 0 {
			t.Errorf("%d stalls were seen", n)
		}
	})
}

// slowClaims is a store that takes its time to give one job.
type slowClaims struct {
	driver.Store
	slow atomic.Bool
}

func (s *slowClaims) Claim(ctx context.Context, claim driver.Claim) ([]*fairlead.Job, error) {
	if s.slow.Load() && !claim.Solo {
		time.Sleep(3 * time.Second)
		claim.Max = min(claim.Max, 1)
	}
	return s.Store.Claim(ctx, claim)
}

func TestANodeThatMovesHoweverSlowlyIsNotStalled(t *testing.T) {
	inBubble(t, func(w *world) {
		store := &slowClaims{Store: w.store}
		w.engineStore = store
		w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
		seen := &stalls{}
		jobs := make([]*fairlead.Job, 30)
		for i := range jobs {
			jobs[i] = &fairlead.Job{Kind: "k"}
		}
		w.run(engine.Options{Lease: time.Hour, Observer: seen}, func() {
			pass(time.Minute) // the node has looked around
			store.slow.Store(true)
			w.enqueue(jobs...)
			for _, job := range jobs {
				w.wait(job)
			}
		})
		if n := seen.count.Load(); n != 0 {
			t.Errorf("%d stalls were seen while a job was claimed every three seconds", n)
		}
	})
}

// A node is not stalled that has nothing to do, or must not do it, or is busy.
func TestANodeThatWaitsIsNotStalled(t *testing.T) {
	inBubble(t, func(w *world) {
		seen := &stalls{}
		release := make(chan struct{})
		w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
		w.handle("long", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error {
			<-release
			return nil
		})
		w.handle("few", fairlead.HandlerOptions{MaxRunning: 1}, func(context.Context, *fairlead.Job) error {
			<-release
			return nil
		})
		w.run(engine.Options{Slots: 2, Lease: time.Hour, Poll: time.Second, Observer: seen}, func() {
			pass(time.Minute) // there is nothing
			if err := w.client.PauseQueue(w.t.Context(), "paused"); err != nil {
				t.Fatal(err)
			}
			w.enqueue(&fairlead.Job{Kind: "k", Queue: "paused"}, &fairlead.Job{Kind: "unknown"})
			pass(time.Minute)
			w.enqueue(&fairlead.Job{Kind: "few"}, &fairlead.Job{Kind: "few"}) // one slot is left
			pass(time.Minute)
			w.enqueue(&fairlead.Job{Kind: "long"}, &fairlead.Job{Kind: "long"}) // none is
			pass(time.Minute)
			close(release)
		})
		if n := seen.count.Load(); n != 0 {
			t.Errorf("%d stalls were seen", n)
		}
	})
}
