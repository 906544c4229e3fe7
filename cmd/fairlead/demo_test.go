package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/internal/demo"
	"github.com/fairlead-io/fairlead/internal/patience"
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

// stored is all that is stored of the demo or of others, as text.
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

// clear removes the demo as soon as no node runs it, and returns what it said.
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

func TestClearingRemovesTheDemoAndNothingElse(t *testing.T) {
	for name, url := range map[string]func(t *testing.T) string{
		"mysql":    func(t *testing.T) string { return testdb.MySQL(t) },
		"postgres": func(t *testing.T) string { return testdb.Postgres(t) },
		"sqlite":   func(t *testing.T) string { return "sqlite://" + filepath.Join(t.TempDir(), "jobs.db") },
	} {
		t.Run(name+", after its node has left", func(t *testing.T) {
			w := newDemoWorld(t, url(t))
			w.comparesOwn(func() {
				node := startProcess(t, "--demo", "--db", w.db)
				w.underWay()
				w.must(node.Process.Signal(syscall.SIGTERM))
				<-node.ended
			})
		})
		t.Run(name+", after its node was killed in a rollback", func(t *testing.T) {
			w := newDemoWorld(t, url(t))
			w.comparesOwn(func() {
				node := startProcess(t, "--demo", "--db", w.db, "--beat", "500ms", "--lease", "3s")
				w.underWay()
				w.rollBack()
				node.kill()
			})
		})
	}
}

// comparesOwn lets the demo run and be removed, and expects all else to be as it was.
func (w *demoWorld) comparesOwn(demonstrate func()) {
	w.Helper()
	w.addOwn()
	before := w.stored(false)
	demonstrate()
	if there := w.stored(true); len(there) != len(before) {
		w.Errorf("of the demo there is no more than %v", there)
	}
	if said := w.clear(); !strings.Contains(said, "the demo is removed") {
		w.Errorf("it says %q", said)
	}
	if left := w.stored(true); len(left) > 0 {
		w.Errorf("of the demo there is left %v", left)
	}
	after := w.stored(false)
	for what, text := range before {
		if after[what] != text {
			w.Errorf("%s were\n%sand are\n%s", what, text, after[what])
		}
	}
	if said := w.clear(); !strings.Contains(said, "there is no demo here") {
		w.Errorf("the second time it says %q", said)
	}
}

func TestSeveralNodesShowOneDemo(t *testing.T) {
	w := newDemoWorld(t, "sqlite://"+filepath.Join(t.TempDir(), "jobs.db"))
	for range 2 {
		startProcess(t, "--demo", "--db", w.db)
	}
	w.underWay()
	seen := map[string]bool{}
	jobs, err := w.store.Find(t.Context(), fairlead.Filter{Tenants: demo.Tenants(), Limit: 100_000})
	w.must(err)
	for _, job := range jobs {
		if job.Key != "" && job.KeyScope == fairlead.KeyForever && seen[job.Key] {
			t.Errorf("there are two jobs with the key %q", job.Key)
		}
		seen[job.Key] = true
	}
	if tally, err := w.store.Tally(t.Context(), fairlead.Filter{Kinds: []string{"demo.rollout"}}); err != nil || tally[fairlead.Succeeded] != 1 {
		t.Errorf("batches were begun %v times: %v", tally, err)
	}
	var stderr strings.Builder
	if code := run(t.Context(), []string{"demo", "clear", "--db", w.db}, io.Discard, &stderr); code == exitOK || !strings.Contains(stderr.String(), "stop it first") {
		t.Errorf("clearing beside nodes that run it: exit %d, %s", code, stderr.String())
	}
}

func TestTheCallsOfTheDemoReachItsTargetAndNothingElse(t *testing.T) {
	w := newDemoWorld(t, "sqlite://"+filepath.Join(t.TempDir(), "jobs.db"))
	tokenFile := filepath.Join(t.TempDir(), "token")
	w.must(os.WriteFile(tokenFile, []byte(strings.Repeat("x", 40)), 0o600)) // so that calls may not go to this machine
	node := startServe(t, "--demo", "--db", w.db, "--token-file", tokenFile)
	schedules := schedule.NewClient(w.store)
	for _, name := range []string{"acme-price-feed", "globex-stock-sync"} { // the second by a callback
		s, err := schedules.Get(t.Context(), name)
		w.must(err)
		fire, err := schedules.Trigger(t.Context(), s.ID, nil)
		w.must(err)
		w.until(name, func(ctx context.Context) (bool, error) {
			job, err := w.store.Get(ctx, fire.Job)
			if err == nil && job.State.Final() && job.State != fairlead.Succeeded {
				err = errors.New(job.Error)
			}
			return err == nil && job.State == fairlead.Succeeded, err
		})
	}
	args, err := json.Marshal(map[string]string{"url": node.url})
	w.must(err)
	denied := &fairlead.Job{Kind: "http", Args: args}
	client := fairlead.NewClient(w.store)
	w.must(client.Enqueue(t.Context(), denied))
	ctx, cancel := context.WithTimeout(t.Context(), patience.Limit)
	defer cancel()
	if job, err := client.Wait(ctx, denied.ID); err != nil || job.State != fairlead.Failed || !strings.Contains(job.Error, "--allow-target") {
		t.Errorf("a call of this machine: %+v, %v", job, err)
	}
}

func TestServeRefusesADemoWhoseNamesAreTaken(t *testing.T) {
	w := newDemoWorld(t, "sqlite://"+filepath.Join(t.TempDir(), "jobs.db"))
	_, err := fairlead.NewClient(w.store).PutTenant(t.Context(), fairlead.Tenant{Name: "globex"})
	w.must(err)
	var stderr strings.Builder
	code := run(t.Context(), []string{"serve", "--addr", "127.0.0.1:0", "--demo", "--db", w.db}, io.Discard, &stderr)
	if code == exitOK || !strings.Contains(stderr.String(), `tenant "globex"`) || !strings.Contains(stderr.String(), "another database") {
		t.Errorf("exit %d: %s", code, stderr.String())
	}
	if tenants, err := w.store.Tenants(t.Context(), fairlead.TenantFilter{}); err != nil || len(tenants) != 1 {
		t.Errorf("it stored %v, %v", tenants, err)
	}
}

func TestTheDemoHasADatabaseOfItsOwn(t *testing.T) {
	t.Chdir(t.TempDir())
	node := startServe(t, "--demo")
	node.cancel()
	<-node.exit
	if _, err := os.Stat("fairlead-demo.db"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat("fairlead.db"); err == nil {
		t.Error("the demo touched the database of real jobs")
	}
	t.Setenv("FAIRLEAD_DEMO", "true")
	t.Setenv("FAIRLEAD_DB", "sqlite://named.db")
	node = startServe(t)
	node.cancel()
	<-node.exit
	if store := newDemoWorld(t, "sqlite://named.db").stored(true); store["tenants"] == "" {
		t.Error("the demo is not in the database that the environment names")
	}
}

func TestClearingMakesNoDatabase(t *testing.T) {
	t.Chdir(t.TempDir())
	var stdout strings.Builder
	if code := run(t.Context(), []string{"demo", "clear"}, &stdout, io.Discard); code != exitOK || !strings.Contains(stdout.String(), "does not exist") {
		t.Errorf("exit %d: %s", code, stdout.String())
	}
	if _, err := os.Stat("fairlead-demo.db"); err == nil {
		t.Error("it made the file")
	}
}
