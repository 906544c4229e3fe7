package engine_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/sweep"
)

// sweepLooks is a store that counts looks at all sweeps.
type sweepLooks struct {
	driver.Store
	looks atomic.Int64
}

func (s *sweepLooks) Sweeps(ctx context.Context, filter sweep.Filter) ([]sweep.Record, error) {
	s.looks.Add(1)
	return s.Store.Sweeps(ctx, filter)
}

func TestJobsThatAreNoShardsMakeNoNodeLookForSweeps(t *testing.T) {
	inBubble(t, func(w *world) {
		store := &sweepLooks{Store: w.store}
		w.engineStore = store
		w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
		w.run(engine.Options{Poll: time.Hour}, func() {
			pass(time.Minute)
			before := store.looks.Load()
			for range 20 {
				job := &fairlead.Job{Kind: "k"}
				w.enqueue(job)
				w.wantSoon("the job", job, time.Minute)
			}
			if looks := store.looks.Load() - before; looks > 0 {
				t.Errorf("20 jobs made it look %d times", looks)
			}
		})
	})
}

func TestASweepWhoseShardsHaveEndedEndsAtOnce(t *testing.T) {
	inBubble(t, func(w *world) {
		stop := make(chan struct{})
		w.handle(sweep.KindOf("k"), fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error {
			<-stop
			return nil
		})
		w.run(engine.Options{Poll: time.Hour}, func() {
			pass(time.Second)
			w.startSweep("one", 2)
			pass(time.Second)
			list, err := w.sweeps.List(w.t.Context(), sweep.Filter{})
			if err != nil || len(list) != 1 {
				t.Fatalf("there are %d sweeps, %v", len(list), err)
			}
			if _, err := w.sweeps.Stop(w.t.Context(), list[0].ID, "me", "enough"); err != nil {
				t.Fatal(err)
			}
			pass(time.Minute)
			close(stop)
			pass(time.Second)
			list, err = w.sweeps.List(w.t.Context(), sweep.Filter{})
			if err != nil || list[0].State != sweep.Stopped {
				t.Errorf("it is %s, %v", list[0].State, err)
			}
		})
	})
}

// A claim may be on its way when the node begins to leave. What it brings begins, and
// is told at once.
func TestAShardThatBeginsWhileTheNodeLeavesIsGivenBack(t *testing.T) {
	inBubble(t, func(w *world) {
		shards := &shardsOf{running: map[fairlead.NodeID]map[int64]int{}}
		w.handle(sweep.KindOf("k"), fairlead.HandlerOptions{Timeout: time.Hour}, shards.work)
		store := &slowClaims{Store: w.store}
		w.engineStore = store
		stop := w.start(engine.Options{Lease: time.Hour, DrainTimeout: time.Hour})
		pass(time.Minute)
		store.slow.Store(true)
		w.startSweep("one", 1)
		pass(time.Second) // the claim is sent
		begin := time.Now()
		if err := stop(); err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took > time.Minute {
			t.Errorf("the node took %v to end", took)
		}
		if left := shards.perNode(); len(left) > 0 {
			t.Errorf("so many shards run: %v", left)
		}
	})
}
