package engine_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/internal/tier"
)

func TestFourNodesShareTenThousandStartsByWeight(t *testing.T) {
	const nodes = 4
	starts := tier.Size(t, 3000, 10_000, "ten thousand starts")
	inBubble(t, func(w *world) {
		ctx := w.t.Context()
		if err := w.client.SetLimit(ctx, fairlead.Limit{Scope: fairlead.LimitGlobal, Order: fairlead.OrderFair}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.client.PutTenant(ctx, fairlead.Tenant{Name: "heavy", Weight: 3}); err != nil {
			t.Fatal(err)
		}
		started, enough := make(chan string, starts), make(chan struct{})
		w.handle("k", fairlead.HandlerOptions{}, func(_ context.Context, job *fairlead.Job) error {
			select {
			case started <- job.Tenant:
			default: // the rest is not counted
			}
			time.Sleep(20 * time.Millisecond)
			return nil
		})
		for _, backlog := range []struct {
			tenant string
			jobs   int
		}{{"light", starts * 3 / 10}, {"heavy", starts * 8 / 10}} {
			jobs := make([]*fairlead.Job, backlog.jobs)
			for i := range jobs {
				jobs[i] = &fairlead.Job{Kind: "k", Tenant: backlog.tenant}
			}
			w.enqueue(jobs...)
		}
		count := map[string]int{}
		go func() {
			defer close(enough)
			for range starts {
				count[<-started]++
			}
		}()
		stops := make([]func() error, nodes)
		for i := range stops {
			stops[i] = w.start(engine.Options{Slots: 16})
		}
		<-enough
		for _, stop := range stops {
			if err := stop(); err != nil {
				t.Errorf("a node ended with %v", err)
			}
		}
		if part := float64(count["heavy"]) / float64(starts); math.Abs(part/0.75-1) > 0.05 {
			t.Errorf("the starts are %v, want 3 : 1", count)
		}
	})
}
