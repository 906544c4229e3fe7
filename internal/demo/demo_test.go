package demo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/sqlite"
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
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "jobs.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return &world{t, New(store, Options{Logger: slog.New(slog.DiscardHandler)})}
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// later is the demo as it is after some time.
func (w *world) later(by time.Duration) *Demo {
	return New(ahead{w.store, by}, Options{Logger: slog.New(slog.DiscardHandler)})
}

// runNode is a node with the demo's kinds, until the test ends.
func (w *world) runNode() {
	w.Helper()
	mux, quiet := fairlead.NewMux(), slog.New(slog.DiscardHandler)
	w.Register(mux, items.Options{Logger: quiet})
	ctx, stop := context.WithCancel(w.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- engine.Run(ctx, w.store, mux, engine.Options{Logger: quiet, Poll: 20 * time.Millisecond, DrainTimeout: time.Millisecond, Grace: time.Millisecond})
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

func TestCheckNamesWhatIsTakenByOthers(t *testing.T) {
	for want, take := range map[string]func(ctx context.Context, w *world) error{
		`tenant "acme"`: func(ctx context.Context, w *world) error {
			_, err := w.jobs.PutTenant(ctx, fairlead.Tenant{Name: acme, Labels: map[string]string{"plan": "real"}})
			return err
		},
		`tenant "initech"`: func(ctx context.Context, w *world) error {
			return w.jobs.Enqueue(ctx, &fairlead.Job{Kind: "own", Tenant: initech})
		},
		`schedule "acme-price-feed"`: func(ctx context.Context, w *world) error {
			_, err := w.schedules.Put(ctx, schedule.Schedule{Name: "acme-price-feed", Every: time.Hour, Job: fairlead.Job{Kind: "own"}})
			return err
		},
		`sweep "globex-catalog-thumbnails"`: func(ctx context.Context, w *world) error {
			_, err := w.sweeps.Put(ctx, sweep.Sweep{Name: sweepName, Kind: "own", To: 5})
			return err
		},
		`calendar "acme-business-days"`: func(ctx context.Context, w *world) error {
			_, err := w.schedules.PutCalendar(ctx, schedule.Calendar{Name: calendarName})
			return err
		},
		`queue "globex-maintenance"`: func(ctx context.Context, w *world) error {
			return w.jobs.Enqueue(ctx, &fairlead.Job{Kind: "own", Queue: pausedQueue})
		},
	} {
		t.Run(want, func(t *testing.T) {
			w := newWorld(t)
			w.must(w.Check(t.Context()))
			w.must(take(t.Context(), w))
			if err := w.Check(t.Context()); !errors.Is(err, fairlead.ErrConflict) || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v", err)
			}
			w.must(Clear(t.Context(), w.store, func(string) {})) // there is none
			if err := w.Check(t.Context()); err == nil {
				t.Error("clearing removed what is not the demo's")
			}
		})
	}
}

func TestCheckLetsTheDemoGoOn(t *testing.T) {
	w := newWorld(t)
	w.must(w.Declare(t.Context()))
	w.must(w.tend(t.Context()))
	w.must(w.jobs.DeleteTenant(t.Context(), globex)) // by an operator; its jobs stay
	w.must(w.Check(t.Context()))
	w.must(w.Declare(t.Context()))
	schedules, err := w.schedules.List(t.Context(), schedule.Filter{Tenants: Tenants()})
	w.must(err)
	if len(schedules) != len(declaredSchedules()) {
		t.Errorf("there are %d schedules", len(schedules))
	}
	for _, s := range schedules {
		if s.Version != 1 {
			t.Errorf("%s was changed by declaring it again", s.Name)
		}
	}
}

func TestDeclaringAgainLeavesAQueueThatWasResumed(t *testing.T) {
	w := newWorld(t)
	w.must(w.Declare(t.Context()))
	w.must(w.jobs.ResumeQueue(t.Context(), pausedQueue))
	w.must(w.Declare(t.Context()))
	if pauses, err := w.jobs.Pauses(t.Context()); err != nil || len(pauses) > 0 {
		t.Errorf("paused are %v, %v", pauses, err)
	}
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

func TestClearingRefusesWhatOthersDependOn(t *testing.T) {
	w := newWorld(t)
	w.must(w.Declare(t.Context()))
	_, err := w.jobs.PutTenant(t.Context(), fairlead.Tenant{Name: "child", Parent: acme})
	w.must(err)
	silent := func(string) {}
	if err := Clear(t.Context(), w.store, silent); !errors.Is(err, fairlead.ErrConflict) || !strings.Contains(fmt.Sprint(err), `"child"`) {
		t.Errorf("a child: %v", err)
	}
	w.must(w.jobs.DeleteTenant(t.Context(), "child"))
	own, err := w.schedules.Put(t.Context(), schedule.Schedule{Name: "own", Every: time.Hour, Calendar: calendarName, Job: fairlead.Job{Kind: "own"}})
	w.must(err)
	if err := Clear(t.Context(), w.store, silent); !errors.Is(err, fairlead.ErrConflict) || !strings.Contains(fmt.Sprint(err), `"own"`) {
		t.Errorf("a schedule that uses the calendar: %v", err)
	}
	if found, err := w.schedules.List(t.Context(), schedule.Filter{Tenants: Tenants()}); err != nil || len(found) != len(declaredSchedules()) {
		t.Errorf("it removed some of the schedules all the same: %d are left, %v", len(found), err)
	}
	w.must(w.schedules.Delete(t.Context(), own.ID))
	w.must(Clear(t.Context(), w.store, silent))
}
