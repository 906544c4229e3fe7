package metrics_test

import (
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/bulk"
	"github.com/fairlead-io/fairlead/fairleadtest"
	"github.com/fairlead-io/fairlead/hold"
)

func TestBulksAndTheLastLookAtHoldsAreShown(t *testing.T) {
	store, clock := fairleadtest.SQLite(t)
	m, mux := newMetrics(), fairlead.NewMux()
	bulk.Register(mux, store, m)
	node := fairleadtest.NewOn(t, store, clock, mux)
	start := func() {
		if _, err := node.Bulks.Start(t.Context(), bulk.Bulk{Action: bulk.Cancel, Filter: fairlead.Filter{Kinds: []string{"unheard"}}}); err != nil {
			t.Fatal(err)
		}
		clock.Advance(time.Second)
	}
	if err := node.Client.Enqueue(t.Context(), &fairlead.Job{Kind: "unheard"}, &fairlead.Job{Kind: "unheard"}); err != nil {
		t.Fatal(err)
	}
	clock.Advance(time.Second)
	start()
	node.Work()
	start()
	if _, err := store.KeepHolds(t.Context(), hold.Found{Next: 1, Now: clock.Now(), Due: time.Minute}); err != nil {
		t.Fatal(err)
	}
	clock.Advance(7 * time.Second)
	m.Watch(still{}, store)
	want(t, scrape(t, m), map[string]float64{
		`fairlead_open_bulks{state="pending"}`: 1, `fairlead_open_bulks{state="running"}`: 0,
		`fairlead_bulk_jobs_total{outcome="done"}`: 2, `fairlead_bulk_jobs_total{outcome="missed"}`: 0,
		"fairlead_hold_look_age_seconds": 7,
	})
}
