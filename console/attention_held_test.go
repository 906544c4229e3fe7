package console

import (
	"context"
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/hold"
)

// joined adds a live node that no test runs.
func (r *rig) joined(node fairlead.Node) {
	r.Helper()
	if _, err := r.store.Join(r.Context(), node, time.Hour); err != nil {
		r.Fatal(err)
	}
}

// recorded waits until some holds are in effect. Without a running node, it records them as
// a node does.
func (r *rig) recorded(holds int) {
	r.Helper()
	witness := hold.NewWitness(r.store, time.Second, time.Hour)
	r.until("holds are recorded", func() bool {
		if err := witness.Look(r.Context()); err != nil {
			r.Fatal(err)
		}
		open, err := r.store.OpenHolds(r.Context())
		if err != nil {
			r.Fatal(err)
		}
		return len(open) >= holds
	})
}

// later moves the clock of the console forward.
func (r *rig) later(by time.Duration) {
	r.console.now = func() time.Time { return time.Now().Add(by) }
	r.console.forget()
}

// attention returns that part of the overview as plain text.
func (r *rig) attention(cookies ...string) string {
	r.Helper()
	r.console.forget()
	page := r.page(http.StatusOK, "/", cookies...)
	_, page, _ = strings.Cut(page, `id="attention"`)
	page, _, _ = strings.Cut(page, "</section>")
	return html.UnescapeString(page)
}

func TestEveryHeldJobIsAMatterOfAttentionWithAButton(t *testing.T) {
	r := newRig(t, true, nil)
	viewer, operator := r.token("reader", access.RoleViewer), r.token("operator", access.RoleOperator)
	r.joined(fairlead.Node{Name: "one", Kinds: []string{"noop", "slow", "gated"}, Slots: 1})
	for _, limit := range []fairlead.Limit{{Scope: fairlead.LimitKind, Name: "slow", Rate: 0.0001, Burst: 1}, {Scope: fairlead.LimitQueue, Name: "narrow", MaxRunning: 1}} {
		if err := r.jobs.SetLimit(t.Context(), limit); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"acme", "beta"} {
		if _, err := r.jobs.PutTenant(t.Context(), fairlead.Tenant{Name: name, Paused: name == "beta"}); err != nil {
			t.Fatal(err)
		}
	}
	for range 120 { // more than a page of the newest jobs
		r.enqueue(&fairlead.Job{Kind: "strange", Queue: "letters"})
	}
	for range 101 {
		r.enqueue(&fairlead.Job{Kind: "noop"})
	}
	gated := &fairlead.Job{Kind: "gated", Tenant: "acme", ConcurrencyKey: "one at a time"}
	r.enqueue(gated, &fairlead.Job{Kind: "gated", Tenant: "acme", ConcurrencyKey: "one at a time"})
	r.enqueue(&fairlead.Job{Kind: "noop", Tenant: "beta"})
	if err := r.jobs.PauseKind(t.Context(), "broken"); err != nil {
		t.Fatal(err)
	}
	r.recorded(3)
	r.later(2 * time.Minute)
	page := r.attention(sessionCookie, operator)
	r.shows(page, "No live node runs kind strange in queue letters.", `data-count="120"`, "/new/bulk/cancel?filter=kind%3Dstrange%26queue%3Dletters%26state%3Dready", "Kind broken is paused.", "/kinds/broken/resume",
		"Tenant beta is paused.", "/tenants/beta/resume", "Waiting for their concurrency keys for 2m: kind gated, tenant acme.", "/limits/kind:gated/edit")
	r.hides(page, "fairlead ")
	read := r.attention(sessionCookie, viewer)
	r.shows(read, "No live node runs kind strange", "Kind broken is paused.")
	r.hides(read, "/new/bulk/", "/resume", "/edit")
	form := r.page(http.StatusOK, "/new/bulk/cancel?filter="+url.QueryEscape("kind=strange&queue=letters&state=ready"), sessionCookie, operator)
	r.shows(form, ">120<")
}

func TestJobsWithoutAnyNodeAreAMatterOfAttention(t *testing.T) {
	r := newRig(t, false, nil)
	r.hides(r.attention(), "No node is running.")
	r.enqueue(&fairlead.Job{Kind: "noop"}, &fairlead.Job{Kind: "strange"})
	r.shows(r.attention(), "No node is running. Ready jobs:", `data-count="2"`, "/new/bulk/cancel?filter=state%3Dready")
}

func TestACapAndARateThatHoldJobsForLongAreMattersOfAttention(t *testing.T) {
	kinds, over := fairlead.NewMux(), make(chan struct{})
	kinds.Handle("slow", fairlead.HandlerOptions{}, fairlead.HandlerFunc(func(context.Context, *fairlead.Job) error {
		<-over
		return nil
	}))
	r := newRig(t, false, kinds)
	if _, err := r.jobs.PutTenant(t.Context(), fairlead.Tenant{Name: "acme", MaxRunning: 1}); err != nil {
		t.Fatal(err)
	}
	if err := r.jobs.SetLimit(t.Context(), fairlead.Limit{Scope: fairlead.LimitQueue, Name: "dripping", Rate: 0.0001, Burst: 1}); err != nil {
		t.Fatal(err)
	}
	r.enqueue(&fairlead.Job{Kind: "slow", Tenant: "acme"}, &fairlead.Job{Kind: "slow", Tenant: "acme"}, &fairlead.Job{Kind: "slow", Queue: "dripping"}, &fairlead.Job{Kind: "slow", Queue: "dripping"})
	r.run()
	defer close(over) // before the node ends
	r.started(2)
	r.recorded(2)
	r.hides(r.attention(), "At the cap", "At the start rate")
	r.later(3 * time.Minute)
	r.shows(r.attention(), "At the cap for 3m: tenant acme.", "/tenants/acme/edit", "Raise the cap", "At the start rate for 3m: queue dripping.", "/limits/queue:dripping/edit", "Raise the rate")
}
