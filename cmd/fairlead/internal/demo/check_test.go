package demo

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/sweep"
)

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
		`calendar "business-days"`: func(ctx context.Context, w *world) error {
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
	w.must(w.store.DeleteTenant(t.Context(), globex)) // by an operator; its jobs stay
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
