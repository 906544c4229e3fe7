package engine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/internal/tier"
)

func TestNodesThatDoNotKnowAKindKeepItsJobsAsItsHandlerSays(t *testing.T) {
	inBubble(t, func(w *world) {
		const hour = time.Hour
		work := func(context.Context, *fairlead.Job) error { return nil }
		w.handle("long", fairlead.HandlerOptions{Retention: fairlead.Retention{Succeeded: 48 * hour}}, work)
		w.handle("usual", fairlead.HandlerOptions{}, work)
		w.handle("brief", fairlead.HandlerOptions{}, work)
		long, usual, brief := &fairlead.Job{Kind: "long"}, &fairlead.Job{Kind: "usual"}, &fairlead.Job{Kind: "brief"}
		w.run(engine.Options{KindRetention: map[string]fairlead.Retention{"brief": {Succeeded: hour}}}, func() {
			w.enqueue(long, usual, brief)
			w.wait(long)
			w.wait(usual)
			w.wait(brief)
			pass(time.Minute) // the node says how it keeps its kinds while it works
		})
		w.mux = fairlead.NewMux() // of another program
		w.handle("other", fairlead.HandlerOptions{}, work)
		gone := func(when string, want ...*fairlead.Job) {
			t.Helper()
			for _, job := range []*fairlead.Job{long, usual, brief} {
				expected := false
				for _, w := range want {
					expected = expected || w == job
				}
				if _, err := w.client.Get(w.t.Context(), job.ID); errors.Is(err, fairlead.ErrNotFound) != expected {
					t.Errorf("%s, the job of kind %s: %v", when, job.Kind, err)
				}
			}
		}
		w.run(engine.Options{Poll: hour, Beat: 10 * time.Minute, Lease: hour, HoldRetention: -1}, func() { // it has nothing else to do
			pass(30 * time.Minute)
			gone("after half an hour")
			pass(time.Hour)
			gone("after an hour and a half", brief)
			if !tier.Size(t, false, true, "two days of a node's life") {
				return
			}
			pass(24 * hour)
			gone("after a day", brief, usual)
			pass(24 * hour)
			gone("after two days", brief, usual, long)
		})
	})
}

func TestARetentionOfAKindThatIsNegativeIsRefused(t *testing.T) {
	mux := fairlead.NewMux()
	mux.Handle("k", fairlead.HandlerOptions{Retention: fairlead.Retention{Failed: -1}}, fairlead.HandlerFunc(func(context.Context, *fairlead.Job) error { return nil }))
	if _, err := engine.New(nil, mux, engine.Options{}); !errors.Is(err, fairlead.ErrInvalid) {
		t.Errorf("got %v", err)
	}
}
