package engine_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/schedule"
)

// put stores a schedule.
func (w *world) put(s schedule.Schedule) schedule.Schedule {
	w.t.Helper()
	s.Disabled = false
	stored, err := w.schedules.Put(w.t.Context(), s)
	if err != nil {
		w.t.Fatal(err)
	}
	return stored
}

// fires lists the runs of a schedule, oldest first.
func (w *world) fires(s schedule.Schedule) []schedule.Fire {
	w.t.Helper()
	fires, err := w.store.Fires(w.t.Context(), schedule.FireFilter{Schedule: s.ID})
	if err != nil {
		w.t.Fatal(err)
	}
	for i, j := 0, len(fires)-1; i < j; i, j = i+1, j-1 {
		fires[i], fires[j] = fires[j], fires[i]
	}
	return fires
}

func TestAScheduleRunsAtItsInstantsAndOnce(t *testing.T) {
	inBubble(t, func(w *world) {
		var runs atomic.Int64
		w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error {
			runs.Add(1)
			return nil
		})
		w.run(engine.Options{}, func() {
			s := w.put(schedule.Schedule{Name: "s", Cron: "*/10 * * * * *", Job: fairlead.Job{Kind: "k"}})
			time.Sleep(time.Minute)
			fires := w.fires(s)
			if len(fires) < 5 || len(fires) > 7 || runs.Load() < 5 {
				t.Fatalf("in a minute there were %d runs and %d calls of the handler", len(fires), runs.Load())
			}
			for i, f := range fires {
				if f.Due.Second()%10 != 0 || i > 0 && f.Due.Sub(fires[i-1].Due) != 10*time.Second {
					t.Errorf("run %d stands for %v", i, f.Due)
				}
				if f.State != fairlead.Succeeded {
					t.Errorf("run %d is %s", i, f.State)
				}
			}
		})
	})
}

func TestAQueuedRunGoesWhenTheOneBeforeHasEnded(t *testing.T) {
	inBubble(t, func(w *world) {
		var running gauge
		w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error {
			running.duringASecond()
			return nil
		})
		w.run(engine.Options{Poll: time.Hour}, func() {
			s := w.put(schedule.Schedule{Name: "s", Cron: "0 0 0 1 1 *", MaxConcurrency: 1, Job: fairlead.Job{Kind: "k"}})
			for range 5 {
				if _, err := w.schedules.Trigger(w.t.Context(), s.ID, nil); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(6 * time.Second) // much less than a poll
			for i, f := range w.fires(s) {
				if f.State != fairlead.Succeeded {
					t.Errorf("run %d is %s, queued %v", i, f.State, f.Queued)
				}
			}
		})
		if running.most != 1 {
			t.Errorf("%d ran at once", running.most)
		}
	})
}

func TestARunThatIsReplacedStops(t *testing.T) {
	inBubble(t, func(w *world) {
		stopped := make(chan struct{}, 10)
		w.handle("k", fairlead.HandlerOptions{}, func(ctx context.Context, _ *fairlead.Job) error {
			<-ctx.Done()
			stopped <- struct{}{}
			return ctx.Err()
		})
		w.run(engine.Options{Lease: time.Hour}, func() { // it does not look by itself
			s := w.put(schedule.Schedule{Name: "s", Cron: "0 * * * * *", Overlap: schedule.OverlapCancel, MaxConcurrency: 1, Job: fairlead.Job{Kind: "k"}})
			time.Sleep(130 * time.Second)
			fires := w.fires(s)
			if len(fires) < 2 || fires[0].State != fairlead.Cancelled || fires[len(fires)-1].State != fairlead.Running {
				t.Fatalf("the runs are %+v", fires)
			}
			if len(stopped) != len(fires)-1 {
				t.Errorf("%d handlers have stopped, want %d", len(stopped), len(fires)-1)
			}
		})
	})
}

func TestADelayBeginsWhenTheRunHasEnded(t *testing.T) {
	inBubble(t, func(w *world) {
		w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error {
			time.Sleep(20 * time.Second)
			return nil
		})
		w.run(engine.Options{}, func() {
			s := w.put(schedule.Schedule{Name: "s", Delay: 10 * time.Second, Job: fairlead.Job{Kind: "k"}})
			time.Sleep(100 * time.Second)
			fires := w.fires(s)
			if len(fires) != 4 {
				t.Fatalf("there were %d runs, want 4", len(fires))
			}
		})
	})
}

// othersAreBusy is a store on which the first look at a schedule that is due finds
// that others have it, who then do nothing.
type othersAreBusy struct {
	driver.Store
	looks atomic.Int64
}

// Tick tells the first time that something is due, as all stores do.
func (s *othersAreBusy) Tick(ctx context.Context, limit int, decide func(schedule.Schedule, schedule.View) schedule.Plan) (schedule.Ticked, error) {
	if s.looks.Add(1) == 1 {
		return schedule.Ticked{Next: 0}, nil
	}
	return s.Store.Tick(ctx, limit, decide)
}

func TestWhatIsLeftOfATickDoesNotWaitForAPoll(t *testing.T) {
	inBubble(t, func(w *world) {
		started := make(chan time.Time, 1)
		w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error {
			started <- time.Now()
			return nil
		})
		w.engineStore = &othersAreBusy{Store: w.store}
		due := time.Now()
		w.put(schedule.Schedule{Name: "s", At: due.Add(time.Microsecond), Job: fairlead.Job{Kind: "k"}})
		time.Sleep(time.Second) // it is due before there is a node
		begin := time.Now()
		w.run(engine.Options{Poll: 10 * time.Second}, func() {
			if late := (<-started).Sub(begin); late > 100*time.Millisecond {
				t.Errorf("it started %v after the node", late)
			}
		})
	})
}

// othersHold is a store on which other nodes hold schedules that are due, for long.
type othersHold struct {
	driver.Store
	looks atomic.Int64
}

// Tick tells each time that something is due, and acts upon nothing.
func (s *othersHold) Tick(context.Context, int, func(schedule.Schedule, schedule.View) schedule.Plan) (schedule.Ticked, error) {
	s.looks.Add(1)
	return schedule.Ticked{Next: 0}, nil
}

// A node that waits for another's tick leaves the database to it.
func TestSchedulesThatOthersHoldAreLookedAtLessAndLessOften(t *testing.T) {
	inBubble(t, func(w *world) {
		w.handle("k", fairlead.HandlerOptions{}, func(context.Context, *fairlead.Job) error { return nil })
		store := &othersHold{Store: w.store}
		w.engineStore = store
		w.run(engine.Options{Poll: time.Hour}, func() {
			time.Sleep(10 * time.Second)
			if looks := store.looks.Load(); looks < 50 || looks > 80 {
				t.Errorf("it looked %d times in 10 s, want about six times a second", looks)
			}
		})
	})
}
