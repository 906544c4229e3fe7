package main

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/cmd/fairlead/internal/demo"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/server"
	"github.com/fairlead-io/fairlead/sweep"
)

// demoWorld is a database with data of its own and the demo.
type demoWorld struct {
	*testing.T
	db    string
	store server.Store
}

// demoStores makes a database of each sort.
var demoStores = map[string]func(t *testing.T) string{
	"mysql":    func(t *testing.T) string { return testdb.MySQL(t) },
	"postgres": func(t *testing.T) string { return testdb.Postgres(t) },
	"sqlite":   func(t *testing.T) string { return sqlitetest.URL(t) },
}

func newDemoWorld(t *testing.T, db string) *demoWorld {
	t.Helper()
	store, err := openStore(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return &demoWorld{T: t, db: db, store: store}
}

func (w *demoWorld) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// until waits for what must come.
func (w *demoWorld) until(what string, ready func(ctx context.Context) (bool, error)) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), patience.Limit)
	defer cancel()
	ticks := time.NewTicker(50 * time.Millisecond)
	defer ticks.Stop()
	for {
		if ok, err := ready(ctx); err != nil {
			w.Fatalf("%s: %v", what, err)
		} else if ok {
			return
		}
		<-ticks.C
	}
}

// addOwn stores one of each thing that is not the demo's.
func (w *demoWorld) addOwn() {
	w.Helper()
	ctx, jobs := w.Context(), fairlead.NewClient(w.store)
	_, err := jobs.PutTenant(ctx, fairlead.Tenant{Name: "own", MaxRunning: 3, Labels: map[string]string{"demo": "true"}})
	w.must(err)
	done := &fairlead.Job{Kind: "own", Tenant: "own", Key: "demo flow 1", KeyScope: fairlead.KeyForever}
	w.must(jobs.Enqueue(ctx, done, &fairlead.Job{Kind: "own"}, &fairlead.Job{Kind: "noop", Tenant: "own", NotBefore: time.Now().AddDate(1, 0, 0)},
		&fairlead.Job{Kind: "own", Tenant: "own", Queue: "nightly"}))
	w.must(jobs.Cancel(ctx, done.ID, "for the test"))
	w.must(jobs.PauseQueue(ctx, "nightly"))
	w.must(jobs.SetLimit(ctx, fairlead.Limit{Scope: fairlead.LimitKind, Name: "own", MaxRunning: 2}))
	schedules := schedule.NewClient(w.store)
	_, err = schedules.PutCalendar(ctx, schedule.Calendar{Name: "own", Weekdays: []time.Weekday{time.Monday}})
	w.must(err)
	_, err = schedules.Put(ctx, schedule.Schedule{Name: "own", Cron: "0 3 1 1 *", Calendar: "own", Job: fairlead.Job{Kind: "own", Tenant: "own"}})
	w.must(err)
	_, err = sweep.NewClient(w.store).Put(ctx, sweep.Sweep{Name: "own", Kind: "own", To: 10, Tenant: "own"})
	w.must(err)
	mux := fairlead.NewMux()
	batch.Handle(mux, paintingWalls())
	batches := batch.NewClient(w.store).Knowing(mux)
	b, err := batches.Start(ctx, batch.Batch{Name: "own", Type: "paint", Tenant: "own", Canary: batch.Canary{Tasks: 1}},
		batch.Change{Target: batch.Target{ID: "1", Type: "wall"}}, batch.Change{Target: batch.Target{ID: "2", Type: "wall"}})
	w.must(err)
	_, err = batches.Pause(ctx, b.ID, "for the test")
	w.must(err)
}

// stored returns all stored data of the demo or of others, as text.
func (w *demoWorld) stored(demos bool) map[string]string {
	w.Helper()
	ctx, jobs := w.Context(), fairlead.NewClient(w.store)
	ours := func(tenant string) bool { return slices.Contains(demo.Tenants(), tenant) == demos }
	texts := map[string]string{}
	add := func(what string, thing any) {
		raw, err := json.Marshal(thing)
		w.must(err)
		texts[what] += string(raw) + "\n"
	}
	tenants, err := jobs.Tenants(ctx, fairlead.TenantFilter{})
	w.must(err)
	for _, t := range tenants {
		if ours(t.Name) {
			add("tenants", t)
		}
	}
	found, err := w.store.Find(ctx, fairlead.Filter{Limit: 100_000})
	w.must(err)
	for _, job := range found {
		if ours(job.Tenant) {
			add("jobs", job)
		}
	}
	schedules, err := schedule.NewClient(w.store).List(ctx, schedule.Filter{})
	w.must(err)
	for _, s := range schedules {
		if ours(s.Job.Tenant) {
			add("schedules", s)
		}
	}
	sweeps, err := sweep.NewClient(w.store).List(ctx, sweep.Filter{})
	w.must(err)
	for _, s := range sweeps {
		if ours(s.Tenant) {
			add("sweeps", s)
		}
	}
	batches, err := batch.NewClient(w.store).List(ctx, batch.Filter{})
	w.must(err)
	for _, b := range batches {
		if ours(b.Tenant) {
			add("batches", b)
		}
	}
	calendars, err := schedule.NewClient(w.store).Calendars(ctx)
	w.must(err)
	for _, c := range calendars {
		if (c.Name != "own") == demos {
			add("calendars", c)
		}
	}
	pauses, err := jobs.Pauses(ctx)
	w.must(err)
	for _, p := range pauses {
		if (p.Name != "nightly") == demos {
			add("pauses", p)
		}
	}
	limits, err := jobs.Limits(ctx)
	w.must(err)
	for _, l := range limits {
		if (l.Name != "own") == demos {
			add("limits", l.Limit)
		}
	}
	return texts
}

// underWay waits until the demo has got somewhere.
func (w *demoWorld) underWay() {
	w.Helper()
	w.until("jobs that have ended", func(ctx context.Context) (bool, error) {
		tally, err := w.store.Tally(ctx, fairlead.Filter{Tenants: demo.Tenants()})
		return tally[fairlead.Succeeded] >= 5 && tally[fairlead.Waiting] > 0 && tally[fairlead.Running] > 0, err
	})
	w.until("the sweep", func(ctx context.Context) (bool, error) {
		found, err := sweep.NewClient(w.store).List(ctx, sweep.Filter{Tenants: demo.Tenants()})
		return len(found) == 1 && found[0].State == sweep.Running && found[0].Done > 0, err
	})
	w.until("the batch", func(ctx context.Context) (bool, error) {
		found, err := batch.NewClient(w.store).List(ctx, batch.Filter{Tenants: demo.Tenants()})
		return len(found) == 1 && found[0].Tally.Success > 0, err
	})
}

// rollBack rolls the demo's batch back.
func (w *demoWorld) rollBack() {
	w.Helper()
	client := batch.NewClient(w.store)
	found, err := client.List(w.Context(), batch.Filter{Tenants: demo.Tenants()})
	w.must(err)
	_, err = client.RollBack(w.Context(), found[0].ID, batch.RollBack{})
	w.must(err)
}

// clear removes the demo as soon as no node runs it, and returns the output.
func (w *demoWorld) clear() string {
	w.Helper()
	var said string
	w.until("the nodes to be gone", func(ctx context.Context) (bool, error) {
		var stdout, stderr strings.Builder
		code := run(ctx, []string{"demo", "clear", "--db", w.db}, &stdout, &stderr)
		said = stdout.String()
		if code != exitOK && !strings.Contains(stderr.String(), "stop it first") {
			return false, errors.New(stderr.String())
		}
		return code == exitOK, nil
	})
	return said
}
