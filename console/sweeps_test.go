package console

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/sweep"
	"github.com/fairlead-io/fairlead/sweep/items"
)

// newMailers returns a rig whose node sends mail to items. Every tenth item has no address,
// and items above held wait until the test ends.
func newMailers(t *testing.T, auth bool) *rig {
	mux := fairlead.NewMux()
	mux.Handle("noop", fairlead.HandlerOptions{}, fairlead.HandlerFunc(func(context.Context, *fairlead.Job) error { return nil }))
	r := newRig(t, auth, mux) // its store is what items are handled by
	over := make(chan struct{})
	items.Handle(mux, r.store, "mail", items.Options{}, func(_ context.Context, item items.Item[map[string]any]) error {
		switch {
		case item.Index >= held:
			<-over
		case item.Index%10 == 0:
			return items.Abandon(fmt.Errorf("item %d has no address", item.Index))
		}
		return nil
	})
	r.run()
	t.Cleanup(func() { close(over) }) // before the node ends, which waits for its items
	r.until("the node joins", r.node.Ready)
	return r
}

// held is from which index on items wait.
const held = 1_000_000

// create stores a sweep.
func (r *rig) create(s sweep.Sweep) sweep.Sweep {
	r.Helper()
	s.Kind = "mail"
	s, err := sweep.NewClient(r.store).Put(r.Context(), s)
	if err != nil {
		r.Fatal(err)
	}
	return s
}

// swept runs a sweep until it has finished or stopped.
func (r *rig) swept(s sweep.Sweep) sweep.Sweep {
	r.Helper()
	s = r.create(s)
	r.start(s)
	ctx, cancel := context.WithTimeout(r.Context(), patience.Limit)
	defer cancel()
	s, err := sweep.NewClient(r.store).Wait(ctx, s.ID)
	if err != nil {
		r.Fatal(err)
	}
	return s
}

func (r *rig) start(s sweep.Sweep) {
	r.Helper()
	if _, err := sweep.NewClient(r.store).Start(r.Context(), s.ID, "ada"); err != nil {
		r.Fatal(err)
	}
}

func TestWithoutSweepsThePageTellsHowToMakeOne(t *testing.T) {
	r := newRig(t, false, nil)
	r.shows(r.page(200, "/sweeps"), "No sweeps yet", "fairlead sweep create first")
	r.shows(r.page(200, "/sweeps?state=running"), "No matching sweeps")
}

func TestCountsOfASweepLeadToExactlyThoseItems(t *testing.T) {
	r := newMailers(t, false)
	r.swept(sweep.Sweep{Name: "campaign/spring", To: 1200, Shards: 2, Budget: sweep.Budget{Items: 1000}})
	list := r.page(200, "/sweeps?state=finished")
	r.shows(list, ">campaign/spring<", "1,200 of 1,200 items done", "1,080 / 1,200")
	page := r.page(200, "/sweeps/campaign%2Fspring")
	r.shows(page, "The sweep finished with failed items.", "fairlead sweep retry 1", "Shard 1", "items 600 to 1,199", "all items done", "880", "item N has no address")
	for _, from := range []string{list, page} {
		counts := r.countLinks(from)
		if counts["/sweeps/1/failed"] != 120 {
			t.Errorf("counts are %v", counts)
		}
		for href, n := range counts {
			if rows := r.rowsOf(href); rows != n {
				t.Errorf("%s is said to have %d rows, and has %d", href, n, rows)
			}
		}
	}
}

func TestASweepThatRunsShowsItsWindowAndWhereItsShardsAre(t *testing.T) {
	r := newMailers(t, false)
	r.start(r.create(sweep.Sweep{Name: "long", From: held - 100, To: held + 100_000, InFlight: 8, Shards: 1, Rate: 5000, Budget: sweep.Budget{Items: 50}}))
	r.until("the mark comes to the items that wait", func() bool {
		shards, err := r.store.Shards(r.Context(), 1)
		return err == nil && len(shards) == 1 && shards[0].Mark == held
	})
	page := r.page(200, "/sweeps/long")
	r.shows(page, "Shard 0", "low-water mark 1,000,000", "window: 0 of 1,024 done", ">here</a>", `href="/jobs/`, "data-chart", "/ 5,000", "up to 8 in flight")
}

func TestASweepAtItsGateSaysWhoHasToOpenIt(t *testing.T) {
	r := newMailers(t, false)
	r.start(r.create(sweep.Sweep{Name: "gated", To: 10, Gate: sweep.Gate{BeforeRun: "https://business.example.org/ask"}}))
	r.shows(r.page(200, "/sweeps/gated"), "The sweep is waiting at its gate", "https://business.example.org/ask", "fairlead sweep open 1", "every 30m")
	r.shows(r.page(200, "/sweeps"), "at gate")
}

func TestDocumentsOfASweepHaveNoPasswords(t *testing.T) {
	r := newMailers(t, false)
	r.create(sweep.Sweep{Name: "fresh", To: 10, Data: json.RawMessage(`{"url":"https://ada:hidden@example.org/x","n":9007199254740993}`)})
	page := r.page(200, "/sweeps/fresh")
	r.shows(page, "The sweep has not been started.", "https://example.org/x", "9007199254740993")
	r.hides(page, "hidden@")
}

func TestTheLogOfASweepIsFilteredByLevelAndItem(t *testing.T) {
	r := newMailers(t, false)
	s := r.create(sweep.Sweep{Name: "talkative", To: 10})
	var lines []sweep.Log
	for i := range 60 {
		lines = append(lines, sweep.Log{Index: int64(i % 10), Level: []string{"info", "warn"}[i%2], Text: fmt.Sprintf("line %d.", i)})
	}
	if err := sweep.NewClient(r.store).Log(r.Context(), s.ID, lines...); err != nil {
		t.Fatal(err)
	}
	for path, n := range map[string]int{"": 60, "?level=warn": 30, "?level=warn&level=info": 60, "?index=3": 6, "?index=3&level=info": 0} {
		if rows := r.rowsOf("/sweeps/talkative/log" + path); rows != n {
			t.Errorf("%s has %d lines, not %d", path, rows, n)
		}
	}
	r.shows(r.page(200, "/sweeps/1"), "line 59.")
}

func TestTheHistoryOfASweepSaysWhoDidWhat(t *testing.T) {
	r := newMailers(t, false)
	r.swept(sweep.Sweep{Name: "small", To: 5})
	r.shows(r.page(200, "/sweeps/small/history"), ">Sweep started<", "ada", "Finished", "automatic")
}

func TestASweepOfAnotherTenantDoesNotExist(t *testing.T) {
	r := newMailers(t, true)
	r.create(sweep.Sweep{Name: "theirs", To: 1, Tenant: "theirs"})
	r.start(r.create(sweep.Sweep{Name: "own", From: held, To: held + 10, Tenant: "mine"}))
	r.until("the sweep is cut", func() bool {
		shards, err := r.store.Shards(r.Context(), 2)
		return err == nil && len(shards) > 0
	})
	token := r.token("bound", access.RoleViewer, "mine")
	page := r.page(200, "/sweeps", sessionCookie, token)
	r.shows(page, ">own<")
	r.hides(page, "theirs")
	for _, path := range []string{"/sweeps/1", "/sweeps/theirs", "/sweeps/1/failed", "/sweeps/1/log", "/sweeps/1/history", "/find?q=theirs"} {
		r.page(404, path, sessionCookie, token)
	}
	r.hides(r.page(200, "/sweeps/own", sessionCookie, token), ">here</a>")
}

func TestParametersOfSweepsThatCannotBeUsedAreNamed(t *testing.T) {
	r := newMailers(t, false)
	r.create(sweep.Sweep{Name: "one", To: 1})
	for path, says := range map[string]string{
		"/sweeps?kind=x":              "kind: is not a parameter of this page",
		"/sweeps?state=odd":           "state",
		"/sweeps?page=x":              "page: is not a valid page token",
		"/sweeps/one/failed?page=x":   "page: is not a valid page token",
		"/sweeps/one/log?index=first": "index: must be an item number",
		"/sweeps/one/log?level=loud":  "level",
		"/sweeps/one/history?x=1":     "x: is not a parameter of this page",
	} {
		r.shows(r.page(400, path), says)
	}
	r.page(404, "/sweeps/none")
}

func TestASweepIsFoundByItsIdAndItsName(t *testing.T) {
	r := newMailers(t, false)
	r.create(sweep.Sweep{Name: "spring", To: 1})
	for _, query := range []string{"1", "spring"} {
		if to := r.ask("GET", "/find?q="+query, nil).Header.Get("Location"); to != "/sweeps/1" {
			t.Errorf("%s leads to %q", query, to)
		}
	}
}

func TestBatchesAndSweepsAreReadInChineseToo(t *testing.T) {
	r := newMailers(t, false)
	r.create(sweep.Sweep{Name: "spring", To: 1})
	r.shows(r.page(200, "/sweeps/spring", "lang", "zh"), "尚未启动", "错误预算")
	r.shows(r.page(200, "/batches", "lang", "zh"), "还没有批次")
}
