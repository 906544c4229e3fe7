package demo

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/sweep"
	"github.com/fairlead-io/fairlead/sweep/items"
)

// world is a demo on an empty store.
type world struct {
	*testing.T
	*Demo
}

// ahead is a store whose clock the demo reads as if it were later.
type ahead struct {
	driver.Store
	by time.Duration
}

func (s ahead) Now(ctx context.Context) (time.Time, error) {
	now, err := s.Store.Now(ctx)
	return now.Add(s.by), err
}

func newWorld(t *testing.T) *world {
	t.Helper()
	store := sqlitetest.Open(t)
	t.Cleanup(func() { _ = store.Close() })
	return &world{t, New(store, Options{Logger: slog.New(slog.DiscardHandler)})}
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// later returns the demo at a later time.
func (w *world) later(by time.Duration) *Demo {
	return New(ahead{w.store, by}, Options{Logger: slog.New(slog.DiscardHandler)})
}

// runNode runs a node with the demo's kinds until the test ends.
func (w *world) runNode() {
	w.Helper()
	mux, quiet := fairlead.NewMux(), slog.New(slog.DiscardHandler)
	w.Register(mux, items.Options{Logger: quiet})
	ctx, stop := context.WithCancel(w.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- engine.Run(ctx, w.store, mux, engine.Options{Logger: quiet, Poll: 20 * time.Millisecond, DrainTimeout: time.Millisecond, Grace: patience.Limit})
	}()
	w.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			w.Error(err)
		}
	})
}

// until waits for what must come.
func (w *world) until(what string, ready func() bool) {
	w.Helper()
	ticks := time.NewTicker(10 * time.Millisecond)
	defer ticks.Stop()
	for deadline := time.Now().Add(patience.Limit); !ready(); <-ticks.C {
		if time.Now().After(deadline) {
			w.Fatalf("%s does not come", what)
		}
	}
}

func (w *world) count(filter fairlead.Filter) (total int64) {
	w.Helper()
	tally, err := w.store.Tally(w.Context(), filter)
	w.must(err)
	for _, n := range tally {
		total += n
	}
	return total
}

func TestTheJobsOfASecondAreMadeOnce(t *testing.T) {
	w := newWorld(t)
	w.must(w.Declare(t.Context()))
	for second := range int64(60) {
		w.must(w.enqueue(t.Context(), flowing(second)))
	}
	made := w.count(fairlead.Filter{Tenants: Tenants()})
	for second := range int64(60) {
		w.must(w.enqueue(t.Context(), flowing(second)))
	}
	if again := w.count(fairlead.Filter{Tenants: Tenants()}); made == 0 || again != made {
		t.Errorf("there were %d jobs, and then %d", made, again)
	}
	for _, tenant := range Tenants() {
		if w.count(fairlead.Filter{Tenants: []string{tenant}}) == 0 {
			t.Errorf("tenant %s has no jobs", tenant)
		}
	}
}

func TestATenantAtItsBoundKeepsNoOtherFromItsJobs(t *testing.T) {
	w := newWorld(t)
	w.must(w.Declare(t.Context()))
	for second := range int64(400) {
		w.must(w.enqueue(t.Context(), flowing(second)))
	}
	if pending := w.count(fairlead.Filter{Tenants: []string{initech}}); pending != 60 {
		t.Errorf("initech has %d jobs", pending)
	}
	if made := w.count(fairlead.Filter{Tenants: []string{acme}}); made < 400 {
		t.Errorf("acme has %d jobs", made)
	}
}

func TestJobsAndBatchesAreRemovedAnHourAfterTheirEnd(t *testing.T) {
	w := newWorld(t)
	w.must(w.Declare(t.Context()))
	own := &fairlead.Job{Kind: "own"}
	w.must(w.jobs.Enqueue(t.Context(), own))
	w.must(w.jobs.Cancel(t.Context(), own.ID, ""))
	w.must(w.enqueue(t.Context(), flowing(0)))
	live := w.count(fairlead.Filter{Tenants: Tenants()})
	ended := &fairlead.Job{Kind: invoiceKind, Tenant: acme}
	w.must(w.jobs.Enqueue(t.Context(), ended))
	w.must(w.jobs.Cancel(t.Context(), ended.ID, ""))

	w.must(w.later(kept - time.Minute).trim(t.Context()))
	if n := w.count(fairlead.Filter{Tenants: Tenants()}); n != live+1 {
		t.Errorf("before an hour there are %d jobs, not %d", n, live+1)
	}
	w.must(w.later(kept + time.Minute).trim(t.Context()))
	if n := w.count(fairlead.Filter{Tenants: Tenants()}); n != live {
		t.Errorf("after an hour there are %d jobs, not %d", n, live)
	}
	if n := w.count(fairlead.Filter{IDs: []int64{own.ID}}); n != 1 {
		t.Error("a job of others was removed")
	}
}

func TestTheNextBatchBeginsWhenTheLastHasHadItsRest(t *testing.T) {
	w := newWorld(t)
	w.must(w.Declare(t.Context()))
	w.runNode()
	begun := func() []batch.Batch {
		found, err := w.batches.List(t.Context(), batch.Filter{Tenants: Tenants()})
		w.must(err)
		return found
	}
	now, err := w.store.Now(t.Context())
	w.must(err)
	for range 3 { // as three nodes would
		w.must(w.tendBatch(t.Context(), now))
	}
	w.until("the first batch", func() bool { return len(begun()) == 1 })
	_, err = w.batches.Cancel(t.Context(), begun()[0].ID, "for the test")
	w.must(err)
	w.until("its end", func() bool { return !begun()[0].EndedAt.IsZero() })
	end := begun()[0].EndedAt
	w.must(w.tendBatch(t.Context(), end.Add(rest-time.Second)))
	if n := w.count(fairlead.Filter{Kinds: []string{rolloutKind}}); n != 1 {
		t.Errorf("batches were asked for %d times", n)
	}
	for range 3 {
		w.must(w.tendBatch(t.Context(), end.Add(rest)))
	}
	w.until("the second batch", func() bool { return len(begun()) == 2 })
	w.until("the jobs that begin batches", func() bool {
		return w.count(fairlead.Filter{Kinds: []string{rolloutKind}, States: []fairlead.State{fairlead.Succeeded}}) == 2
	})
	w.must(w.later(2*kept).trimBatches(t.Context(), end.Add(2*kept)))
	if left := begun(); len(left) != 1 || left[0].EndedAt.Equal(end) {
		t.Errorf("there are %d batches left", len(left))
	}
}

func TestTheSweepIsStartedAgainUnlessItWasStopped(t *testing.T) {
	w := newWorld(t)
	w.must(w.Declare(t.Context()))
	now, err := w.store.Now(t.Context())
	w.must(err)
	for range 2 {
		w.must(w.tendSweep(t.Context(), now))
	}
	s, err := w.sweeps.Get(t.Context(), sweepName)
	w.must(err)
	if s.State != sweep.Running || s.Run != 1 {
		t.Fatalf("it is %s in run %d", s.State, s.Run)
	}
	_, err = w.sweeps.Stop(t.Context(), s.ID, "test", "for the test")
	w.must(err)
	w.must(w.tendSweep(t.Context(), now.Add(time.Hour)))
	if s, err = w.sweeps.Get(t.Context(), sweepName); err != nil || s.State == sweep.Running {
		t.Errorf("it is %s, %v", s.State, err)
	}
}
