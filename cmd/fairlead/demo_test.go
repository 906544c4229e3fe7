package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/cmd/fairlead/internal/demo"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/schedule"
)

func TestClearingRemovesTheDemoAndNothingElse(t *testing.T) {
	t.Parallel()
	for name, url := range demoStores {
		t.Run(name+", after its node has left", func(t *testing.T) {
			t.Parallel()
			if name != "sqlite" {
				tier.Long(t, "the demo is removed through the same calls on every database")
			}
			w := newDemoWorld(t, url(t))
			w.comparesOwn(func() {
				node := startProcess(t, "--demo", "--db", w.db, "--poll", "50ms")
				w.underWay()
				w.must(node.Process.Signal(syscall.SIGTERM))
				<-node.ended
			})
		})
		t.Run(name+", after its node was killed in a rollback", func(t *testing.T) {
			t.Parallel()
			tier.Long(t, "kills a node and waits for its lease to end")
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
	if said := w.clear(); !strings.Contains(said, "demo removed") {
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
	if said := w.clear(); !strings.Contains(said, "no demo found") {
		w.Errorf("the second time it says %q", said)
	}
}

func TestSeveralNodesShowOneDemo(t *testing.T) {
	t.Parallel()
	for name, url := range demoStores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := url(t)
			var nodes []*process
			for range 3 { // which find an empty database
				nodes = append(nodes, launchProcess(t, "--demo", "--db", db, "--poll", "50ms"))
			}
			for _, node := range nodes {
				node.awaitServing(t)
			}
			newDemoWorld(t, db).isOne()
		})
	}
}

// isOne expects that nothing of the demo is there twice.
func (w *demoWorld) isOne() {
	w.Helper()
	w.underWay()
	seen := map[string]bool{}
	jobs, err := w.store.Find(w.Context(), fairlead.Filter{Tenants: demo.Tenants(), Limit: 100_000})
	w.must(err)
	for _, job := range jobs {
		if job.Key != "" && job.KeyScope == fairlead.KeyForever && seen[job.Key] {
			w.Errorf("there are two jobs with the key %q", job.Key)
		}
		seen[job.Key] = true
	}
	if begun, err := w.store.Find(w.Context(), fairlead.Filter{Kinds: []string{"demo.rollout"}}); err != nil || len(begun) != 1 {
		w.Errorf("batches were begun %d times: %v", len(begun), err)
	}
	var stderr strings.Builder
	if code := run(w.Context(), []string{"demo", "clear", "--db", w.db}, io.Discard, &stderr); code == exitOK || !strings.Contains(stderr.String(), "stop it first") {
		w.Errorf("clearing beside nodes that run it: exit %d, %s", code, stderr.String())
	}
}

func TestTheCallsOfTheDemoReachItsTargetAndNothingElse(t *testing.T) {
	t.Parallel()
	w := newDemoWorld(t, sqlitetest.URL(t))
	tokenFile := filepath.Join(t.TempDir(), "token")
	w.must(os.WriteFile(tokenFile, []byte(strings.Repeat("x", 40)), 0o600)) // so that calls may not go to this machine
	node := startServe(t, "--demo", "--db", w.db, "--token-file", tokenFile, "--poll", "50ms")
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
	t.Parallel()
	w := newDemoWorld(t, sqlitetest.URL(t))
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
