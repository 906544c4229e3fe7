package browser

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/console"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/internal/bench/lists"
	"github.com/fairlead-io/fairlead/internal/bench/pages"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/postgres"
	"github.com/fairlead-io/fairlead/server"
	"github.com/fairlead-io/fairlead/sqlite"
)

// crowd serves the console of a store with a million jobs, or with FAIRLEAD_LIST_JOBS jobs. No node
// runs, so the jobs stay as they are.
func crowd(t *testing.T, url string, store lists.Store) (base string) {
	t.Helper()
	jobs := 1_000_000
	if text := os.Getenv("FAIRLEAD_LIST_JOBS"); text != "" {
		var err error
		if jobs, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	if err := (lists.Crowd{URL: url, Store: store, Jobs: jobs}).Fill(t.Context()); err != nil {
		t.Fatal(err)
	}
	mux := fairlead.NewMux()
	mux.Handle("kind-1", fairlead.HandlerOptions{}, fairlead.HandlerFunc(func(context.Context, *fairlead.Job) error { return nil }))
	log := slog.New(slog.DiscardHandler)
	node, err := engine.New(store, mux, engine.Options{Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	stopping := make(chan struct{})
	service, err := server.New(node, store, server.Options{Version: "test", Log: log, Kinds: mux, Stopping: stopping, Console: func(api http.Handler) (http.Handler, error) {
		return console.New(api, console.Options{Version: "test", Stopping: stopping, Log: log})
	}})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(service)
	t.Cleanup(func() {
		close(stopping)
		web.Close()
	})
	return web.URL
}

// TestAMillionJobs follows every number of a store with a million jobs to its rows. Then it looks for
// 60,000 stuck jobs as an operator would.
func TestAMillionJobs(t *testing.T) {
	tier.Long(t, "fills databases with a million jobs and follows hundreds of numbers")
	needBrowser(t)
	for name, open := range map[string]func(t *testing.T) (string, lists.Store, func() error, error){
		"postgres": func(t *testing.T) (string, lists.Store, func() error, error) {
			url := testdb.Postgres(t)
			store, err := postgres.Open(t.Context(), url)
			return url, store, store.Close, err
		},
		"sqlite": func(t *testing.T) (string, lists.Store, func() error, error) {
			url := sqlitetest.URL(t)
			store, err := sqlite.Open(t.Context(), url)
			return url, store, store.Close, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			url, store, closing, err := open(t)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := closing(); err != nil {
					t.Error(err)
				}
			})
			base := crowd(t, url, store)
			followed, err := pages.Pages{Lists: lists.Lists{URL: url, Store: store}}.Follow(t.Context())
			if err := errors.Join(err, pages.Judge(followed)); err != nil {
				t.Error(err)
			}
			t.Logf("%d numbers lead to rows", len(followed))
			stuck(t, base, store)
		})
	}
}

// stuck opens the stuck jobs from the queues page, selects two of them, and searches all jobs for an
// error.
func stuck(t *testing.T, base string, store lists.Store) {
	tab := open(t, base, wide)
	tab.visit("/queues")
	tab.do(chromedp.Click(chromedp.CSS(fmt.Sprintf(`#queue-%s a.count[href*="state=ready"]`, lists.StuckQueue))))
	tab.await(`location.pathname === "/jobs" && document.querySelectorAll("tr[data-row]").length === 50`)
	tab.accessible("the stuck jobs")
	tab.do(chromedp.Click(chromedp.CSS("tr[data-row]:nth-child(1) td.pick input")), chromedp.Click(chromedp.CSS("tr[data-row]:nth-child(3) td.pick input")))
	first := value[string](tab, `document.querySelector("tr[data-row]").id`)
	if err := fairlead.NewClient(store).Enqueue(t.Context(), &fairlead.Job{Kind: lists.StuckKind, Queue: lists.StuckQueue, Tenant: "tenant-0"}); err != nil {
		t.Fatal(err)
	}
	tab.await(fmt.Sprintf(`document.querySelector("tr[data-row]").id !== %s`, quoted(first))) // the new job comes first
	if picked := value[int](tab, `document.querySelectorAll("td.pick input:checked").length`); picked != 2 {
		t.Errorf("after an update of the page %d rows are selected, want 2", picked)
	}
	tab.do(chromedp.Click(chromedp.CSS(`#selection-actions button[formaction*="/cancel"]`)))
	tab.await(`document.getElementById("bulk-matched")?.innerText === "2"`)
	tab.accessible("a form for selected rows")

	tab.visit("/jobs?state=succeeded&text=found+nowhere")
	tab.await(`document.getElementById("search") !== null || location.search.includes("page=")`)
	begun := value[string](tab, `document.querySelector("#search p")?.innerText ?? ""`)
	tab.await(fmt.Sprintf(`(document.querySelector("#search p")?.innerText ?? "") !== %s`, quoted(begun)))
	tab.quiet("a search")

	tab.visit("/jobs?tenant=" + lists.LoneTenant)
	tab.await(`document.querySelectorAll("tr[data-row]").length === 1`)
	tab.quiet("the job of a tenant")
}
