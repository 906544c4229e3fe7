package metrics_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/metrics"
	"github.com/fairlead-io/fairlead/sqlite"
)

// scrape returns the value of each series.
func scrape(t *testing.T, m *metrics.Metrics) map[string]float64 {
	t.Helper()
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	if answer.Code != http.StatusOK {
		t.Fatalf("the scrape failed: %d %s", answer.Code, answer.Body)
	}
	series := map[string]float64{}
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		line := lines.Text()
		if strings.HasPrefix(line, "#") {
			continue
		}
		space := strings.LastIndex(line, " ")
		value, err := strconv.ParseFloat(line[space+1:], 64)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		series[line[:space]] = value
	}
	return series
}

func want(t *testing.T, series, wanted map[string]float64) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if got, ok := series[name]; !ok || got != wanted[name] {
			t.Errorf("%s is %v (there: %v), want %v", name, got, ok, wanted[name])
		}
	}
}

func open(t *testing.T) *sqlite.Store {
	t.Helper()
	store := sqlitetest.Open(t)
	return store
}

func newMetrics() *metrics.Metrics {
	return metrics.New(metrics.Options{Version: "test", Logger: slog.New(slog.DiscardHandler)})
}

// enqueue stores jobs through a store that is or is not timed.
func enqueue(t *testing.T, store driver.Store, jobs ...*fairlead.Job) {
	t.Helper()
	if err := fairlead.NewClient(store).Enqueue(t.Context(), jobs...); err != nil {
		t.Fatal(err)
	}
}

// A node works for two minutes of virtual time, and all it did is counted.
func TestWhatANodeDoesIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opened := open(t)
		defer opened.Close()
		m := newMetrics()
		store := m.Store(opened)
		mux, release := fairlead.NewMux(), make(chan struct{})
		handle := func(kind string, work func(ctx context.Context, job *fairlead.Job) error) {
			mux.Handle(kind, fairlead.HandlerOptions{MaxAttempts: 2, Retry: fairlead.Fixed(time.Second)}, fairlead.HandlerFunc(work))
		}
		handle("works", func(context.Context, *fairlead.Job) error { time.Sleep(20 * time.Millisecond); return nil })
		handle("fails", func(context.Context, *fairlead.Job) error { time.Sleep(time.Second); return errors.New("no") })
		handle("stays", func(context.Context, *fairlead.Job) error { <-release; return nil })
		handle("taken", func(ctx context.Context, _ *fairlead.Job) error {
			<-release
			return fairlead.Progress(context.WithoutCancel(ctx), 1)
		})
		node, err := engine.New(store, mux, engine.Options{Slots: 4, Observer: m, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		m.Watch(node, store)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- node.Run(ctx) }()
		later := time.Now().Add(time.Hour)
		enqueue(t, store,
			&fairlead.Job{Kind: "works"}, &fairlead.Job{Kind: "works"}, &fairlead.Job{Kind: "fails"}, &fairlead.Job{Kind: "stays"},
			&fairlead.Job{Kind: "taken"}, &fairlead.Job{Kind: "nobody knows it", Queue: "mail", Tenant: "acme"}, &fairlead.Job{Kind: "works", NotBefore: later},
		)
		time.Sleep(2 * time.Minute)
		want(t, scrape(t, m), map[string]float64{
			`fairlead_build_info{version="test"}`:                                        1,
			`fairlead_job_duration_seconds_count{kind="works",outcome="succeeded"}`:      2,
			`fairlead_job_duration_seconds_sum{kind="works",outcome="succeeded"}`:        0.04,
			`fairlead_job_duration_seconds_count{kind="fails",outcome="retried"}`:        1,
			`fairlead_job_duration_seconds_count{kind="fails",outcome="failed"}`:         1,
			`fairlead_job_duration_seconds_bucket{kind="fails",outcome="failed",le="1"}`: 1,
			`fairlead_failed_attempts_total{kind="fails",reason="error"}`:                2,
			`fairlead_claimed_jobs_total`:                                                6,
			`fairlead_slots`:                                                             4,
			`fairlead_busy_slots`:                                                        2,
			`fairlead_slot_usage_ratio`:                                                  0.5,
			`fairlead_queue_usage_ratio`:                                                 0,
			`fairlead_node_up`:                                                           1,
			`fairlead_store_up`:                                                          1,
			`fairlead_live_nodes`:                                                        1,
			`fairlead_dead_nodes`:                                                        0,
			`fairlead_jobs{state="scheduled"}`:                                           1,
			`fairlead_jobs{state="running"}`:                                             2,
			`fairlead_ready_jobs{queue="default"}`:                                       0,
			`fairlead_ready_jobs{queue="mail"}`:                                          1,
			`fairlead_oldest_wait_seconds{queue="mail"}`:                                 120,
			`fairlead_tenant_jobs{state="running",tenant="default"}`:                     2,
			`fairlead_tenant_jobs{state="ready",tenant="acme"}`:                          1,
			`fairlead_lease_losses_total`:                                                0,
			`fairlead_store_seconds_count{statement="enqueue"}`:                          1,
		})

		// One dies, and another leaves in the name of this one: it starts over, and what
		// the old one does is refused.
		if _, err := opened.Join(t.Context(), fairlead.Node{Name: "silent"}, time.Second); err != nil {
			t.Fatal(err)
		}
		if err := opened.Leave(t.Context(), node.Stats().Node); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		close(release)
		time.Sleep(time.Minute)
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		series := scrape(t, m)
		want(t, series, map[string]float64{
			`fairlead_lease_losses_total`: 1, `fairlead_reaped_total`: 2, `fairlead_lost_nodes_total`: 1,
			`fairlead_fenced_writes_refused_total`: 1, `fairlead_abandoned_handlers_total`: 2,
			`fairlead_dead_nodes`: 1, `fairlead_live_nodes`: 0, `fairlead_node_up`: 0,
		})
		for _, statement := range strings.Fields("enqueue join beat leave claim settle save report held promote reap expire prune") {
			if series[fmt.Sprintf(`fairlead_store_seconds_count{statement=%q}`, statement)] == 0 {
				t.Errorf("%s was not timed", statement)
			}
		}
		if _, there := series[`fairlead_job_update_failures_total`]; !there {
			t.Error("failures to write are not shown before the first")
		}
	})
}

// asked counts how often jobs are counted.
type asked struct {
	driver.Store
	times atomic.Int32
	takes time.Duration
}

func (a *asked) Usage(ctx context.Context) (fairlead.UsageReport, error) {
	a.times.Add(1)
	select {
	case <-ctx.Done():
		return fairlead.UsageReport{}, ctx.Err()
	case <-time.After(a.takes):
	}
	return a.Store.Usage(ctx)
}

type still struct{}

func (still) Stats() engine.Stats { return engine.Stats{} }

func TestJobsAreCountedSeldomHoweverOftenAndByHowManyItIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opened := open(t)
		defer opened.Close()
		enqueue(t, opened, &fairlead.Job{Kind: "k"})
		store := &asked{Store: opened}
		m := newMetrics()
		m.Watch(still{}, store)
		counted := func(wanted int32) {
			t.Helper()
			for range 3 {
				want(t, scrape(t, m), map[string]float64{`fairlead_ready_jobs{queue="default"}`: 1})
			}
			if got := store.times.Load(); got != wanted {
				t.Errorf("jobs were counted %d times, want %d", got, wanted)
			}
		}
		counted(1)
		time.Sleep(5 * time.Second)
		store.takes = time.Second
		counted(2)
		time.Sleep(19 * time.Second) // what takes long is asked for a twentieth of the time
		counted(2)
		time.Sleep(2 * time.Second)
		counted(3)
	})
}

func TestAScrapeSucceedsWithoutTheDatabase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opened := open(t)
		enqueue(t, opened, &fairlead.Job{Kind: "k"})
		slow := &asked{Store: opened, takes: time.Hour}
		m := newMetrics()
		m.Watch(still{}, slow)
		begin := time.Now()
		series := scrape(t, m)
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("the scrape waited %v for the database", took)
		}
		want(t, series, map[string]float64{`fairlead_store_up`: 1, `fairlead_live_nodes`: 0})
		if err := opened.Close(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Minute)
		series = scrape(t, m)
		want(t, series, map[string]float64{`fairlead_store_up`: 0, `fairlead_slots`: 0})
		for name := range series {
			if strings.HasPrefix(name, "fairlead_ready_jobs") || strings.HasPrefix(name, "fairlead_live_nodes") {
				t.Errorf("%s is shown, and cannot be known", name)
			}
		}
	})
}

func TestOnlyTheLargestTenantsAreNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opened := open(t)
		defer opened.Close()
		for i := range 30 {
			for range i + 1 {
				enqueue(t, opened, &fairlead.Job{Kind: "k", Tenant: fmt.Sprintf("tenant %02d", i)})
			}
		}
		for range 100 {
			enqueue(t, opened, &fairlead.Job{Kind: "k", Tenant: "(other)"}) // a name like any other
		}
		m := newMetrics()
		m.Watch(still{}, opened)
		series, named := scrape(t, m), 0
		for name := range series {
			if strings.HasPrefix(name, `fairlead_tenant_jobs{state="ready"`) {
				named++
			}
		}
		want(t, series, map[string]float64{
			`fairlead_tenant_jobs{state="ready",tenant="tenant 29"}`: 30,
			`fairlead_tenant_jobs{state="ready",tenant="tenant 10"}`: 11,
			`fairlead_tenant_jobs{state="ready",tenant="(other)"}`:   155, // 1 + 2 + … + 10, and 100
			`fairlead_ready_jobs{queue="default"}`:                   565,
		})
		if named != 21 {
			t.Errorf("%d tenants are named, want 20 and all others", named)
		}
	})
}
