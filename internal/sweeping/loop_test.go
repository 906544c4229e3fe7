package sweeping_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/internal/sweeping"
)

// testLoop is a loop that handles its items like a worker does.
type testLoop struct {
	ctx    context.Context
	handle func(ctx context.Context, item sweeping.Item) sweeping.Outcome
	begun  int
	most   int // number of calls after which the loop no longer fits; 0 = unlimited
	all    sync.WaitGroup
	ended  chan sweeping.Ended
}

// loops returns a constructor of loops for a world.
func (w *world) loops(most int) sweeping.NewLoop {
	return func(ctx context.Context) sweeping.Loop {
		return &testLoop{ctx: ctx, handle: w.handle, most: most, ended: make(chan sweeping.Ended, 1000)}
	}
}

func (l *testLoop) Begin(number int, item sweeping.Item) {
	l.begun++
	l.all.Go(func() { l.ended <- sweeping.Ended{Number: number, Outcome: l.handle(l.ctx, item)} })
}

func (l *testLoop) Wait(most time.Duration) (ended []sweeping.Ended) {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case one := <-l.ended:
		ended = append(ended, one)
	case <-timer.C:
	}
	for len(l.ended) > 0 {
		ended = append(ended, <-l.ended)
	}
	return ended
}

func (l *testLoop) Fits() bool { return l.most == 0 || l.begun < l.most }

func (l *testLoop) Close() { l.all.Wait() }

// With a rate, each worker gets a goroutine, because a loop cannot wait for the rate.
func TestARateEndsLoops(t *testing.T) {
	in(t, 3_000, func(t *testing.T, w *world) {
		w.takes = func(sweeping.Item) time.Duration { return 10 * time.Millisecond }
		shard := w.shard()
		shard.InFlight = 70
		var made atomic.Int64
		shard.Loop = func(ctx context.Context) sweeping.Loop {
			made.Add(1)
			return w.loops(0)(ctx)
		}
		runner, err := sweeping.New(shard)
		if err != nil {
			t.Fatal(err)
		}
		rate := 1000.0
		time.AfterFunc(100*time.Millisecond, func() { runner.Order(sweeping.Orders{Rate: &rate}) })
		begin := time.Now()
		ending, err := runner.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		w.mustBeComplete(ending)
		if took := time.Since(begin); took < 2*time.Second || took > 3*time.Second {
			t.Errorf("it took %v", took)
		}
		if n := made.Load(); n < 1 || n > 2 {
			t.Errorf("there were %d loops", n)
		}
	})
}

// The number of items in flight can change while loops are running.
func TestLoopsFollowOrders(t *testing.T) {
	in(t, 20_000, func(t *testing.T, w *world) {
		w.takes = func(sweeping.Item) time.Duration { return 10 * time.Millisecond }
		shard := w.shard()
		shard.InFlight, shard.Loop = 10, w.loops(0)
		runner, err := sweeping.New(shard)
		if err != nil {
			t.Fatal(err)
		}
		for i, inFlight := range []int{100, 3, 50, 1, 40} {
			time.AfterFunc(time.Duration(i+1)*500*time.Millisecond, func() {
				w.mu.Lock()
				w.peak = 0
				w.mu.Unlock()
				runner.Order(sweeping.Orders{InFlight: &inFlight})
			})
			time.AfterFunc(time.Duration(i+2)*500*time.Millisecond-time.Millisecond, func() {
				w.mu.Lock()
				defer w.mu.Unlock()
				if w.running > inFlight || w.running == 0 || w.peak < inFlight {
					w.complain("%d are in flight, and at most %d were, of %d", w.running, w.peak, inFlight)
				}
			})
		}
		ending, err := runner.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		w.mustBeComplete(ending)
	})
}
