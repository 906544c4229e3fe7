package engine_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/internal/tier"
)

// conducted is a store that counts looks at batches, of which it may refuse some.
type conducted struct {
	driver.Store
	looks  atomic.Int64
	refuse func(id int64) error
}

func (c *conducted) Conduct(ctx context.Context, id int64, wait bool, act func(context.Context, *batch.Record, batch.Tx) error) (bool, error) {
	c.looks.Add(1)
	if c.refuse != nil {
		if err := c.refuse(id); err != nil {
			return false, err
		}
	}
	return c.Store.Conduct(ctx, id, wait, act)
}

// operating registers an operation that takes a second.
func (w *world) operating() {
	batch.Handle(w.mux, batch.Operation{TargetType: "host", BatchType: "upgrade", Process: func(context.Context, batch.TaskArgs) error {
		time.Sleep(time.Second)
		return nil
	}})
}

// startBatch starts a batch of some tasks.
func (w *world) startBatch(tasks int, b batch.Batch) batch.Batch {
	w.t.Helper()
	changes := make([]batch.Change, tasks)
	for i := range changes {
		changes[i] = batch.Change{Target: batch.Target{Type: "host", ID: fmt.Sprint(i)}, After: []byte("1")}
	}
	b.Name, b.Type = "b", "upgrade"
	started, err := batch.NewClient(w.store).Knowing(w.mux).Start(w.t.Context(), b, changes...)
	if err != nil {
		w.t.Fatal(err)
	}
	return started
}

func (w *world) wantBatch(what string, b batch.Batch, want batch.State) {
	w.t.Helper()
	got, err := batch.NewClient(w.store).Get(w.t.Context(), b.ID)
	if err != nil || got.State() != want {
		w.t.Errorf("%s: the batch is %s, want %s: %+v, %v", what, got.State(), want, got.Tally, err)
	}
}

func TestABatchGoesOnAsSoonAsATaskEnds(t *testing.T) {
	inBubble(t, func(w *world) {
		w.operating()
		store := &conducted{Store: w.store}
		w.engineStore = store
		w.run(engine.Options{Poll: time.Hour}, func() {
			pass(time.Minute)
			b := w.startBatch(5, batch.Batch{MaxRunning: 1})
			pass(6 * time.Second) // much less than a poll
			w.wantBatch("when its tasks have ended, one after the other", b, batch.Success)
			before := store.looks.Load()
			pass(time.Minute)
			if again := store.looks.Load() - before; again > 0 {
				t.Errorf("it was looked at %d times after its end", again)
			}
		})
	})
}

func TestABatchThatKeepsToARateIsLookedAtInTime(t *testing.T) {
	inBubble(t, func(w *world) {
		w.operating()
		store := &conducted{Store: w.store}
		w.engineStore = store
		w.run(engine.Options{Poll: time.Hour}, func() {
			pass(time.Minute)
			// Each releases its next task when nothing else wakes the node.
			slow, quick := w.startBatch(2, batch.Batch{Rate: 0.02}), w.startBatch(6, batch.Batch{Rate: 0.2})
			pass(40 * time.Second)
			w.wantBatch("the quick one", quick, batch.Success)
			w.wantBatch("the slow one, before its time", slow, batch.Running)
			pass(20 * time.Second)
			w.wantBatch("the slow one", slow, batch.Success)
			if looks := store.looks.Load(); looks > 60 {
				t.Errorf("8 tasks took %d looks", looks)
			}
		})
	})
}

// looked remembers what became of looks at batches.
type looked struct {
	engine.NoObserver
	mu     sync.Mutex
	failed int
	fine   int
}

func (l *looked) Conducted(_ time.Duration, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.failed++
	} else {
		l.fine++
	}
}

func (l *looked) seen() (failed, fine int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failed, l.fine
}

func TestABatchThatCannotBeLookedAtHoldsUpNoOther(t *testing.T) {
	inBubble(t, func(w *world) {
		w.operating()
		var bad atomic.Int64
		store := &conducted{Store: w.store, refuse: func(id int64) error {
			if id == bad.Load() {
				return errors.New("that cannot be read")
			}
			return nil
		}}
		w.engineStore = store
		seen := &looked{}
		w.run(engine.Options{Poll: 10 * time.Second, Observer: seen}, func() {
			pass(time.Minute)
			held := w.startBatch(3, batch.Batch{MaxRunning: 1})
			bad.Store(held.ID)
			good := w.startBatch(3, batch.Batch{MaxRunning: 1})
			pass(30 * time.Second)
			w.wantBatch("the one that can be looked at", good, batch.Success)
			w.wantBatch("the one that cannot", held, batch.Pending)
			if failed, fine := seen.seen(); failed == 0 || failed > 10 || fine == 0 {
				t.Errorf("%d looks failed, %d did not", failed, fine)
			}
			bad.Store(0)
			pass(30 * time.Second)
			w.wantBatch("the one that could not", held, batch.Success)
		})
	})
}

func TestABatchThatIsGoneIsNoFailure(t *testing.T) {
	inBubble(t, func(w *world) {
		w.operating()
		store := &conducted{Store: w.store, refuse: func(int64) error { return fmt.Errorf("batch: %w", fairlead.ErrNotFound) }}
		w.engineStore = store
		seen := &looked{}
		w.run(engine.Options{Observer: seen}, func() {
			w.startBatch(1, batch.Batch{})
			pass(10 * time.Second)
			if failed, fine := seen.seen(); failed > 0 || fine == 0 {
				t.Errorf("%d looks failed, %d did not", failed, fine)
			}
		})
	})
}

// Source 000: unfinished batches make progress side by side, whatever their size.
func TestASmallBatchDoesNotWaitForALargeOne(t *testing.T) {
	inBubble(t, func(w *world) {
		w.operating()
		w.run(engine.Options{Slots: 10}, func() {
			many := tier.Size(t, 10_000, 100_000, "a very large batch")
			large := w.startBatch(many, batch.Batch{})
			pass(time.Minute)
			small := w.startBatch(3, batch.Batch{})
			before := w.started(large)
			pass(5 * time.Second)
			w.wantBatch("the small batch", small, batch.Success)
			if more := w.started(large) - before; more > 1000 {
				t.Errorf("%d tasks of the large batch were started before the small one had ended", more)
			}
		})
	})
}

// started is how many tasks of a batch do not wait any more.
func (w *world) started(b batch.Batch) int {
	w.t.Helper()
	got, err := batch.NewClient(w.store).Get(w.t.Context(), b.ID)
	if err != nil {
		w.t.Fatal(err)
	}
	return got.Total - got.Tally.Pending
}
