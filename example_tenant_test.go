package fairlead_test

import (
	"context"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/fairleadtest"
)

// Limit how many jobs of a tenant start, on all nodes together. The program declares
// the limits each time it starts. Explain shows why a job is waiting.
func ExampleClient_EnsureTenant() {
	example(func(t fairleadtest.TB, ctx context.Context) {
		mux := fairlead.NewMux()
		SendInvoice.Handle(mux, func(context.Context, *fairlead.Job, Invoice) error { return nil })
		node := fairleadtest.New(t, mux)
		_, err := node.Client.EnsureTenant(ctx, fairlead.Tenant{Name: "acme", MaxRunning: 10, Rate: 0.5, Burst: 1})
		must(err)

		first, second := SendInvoice.Job(Invoice{ID: 1}), SendInvoice.Job(Invoice{ID: 2})
		first.Tenant, second.Tenant = "acme", "acme"
		must(node.Client.Enqueue(ctx, first, second))
		fmt.Println(len(node.Drain()), "job started")

		why, err := node.Client.Explain(ctx, second.ID)
		must(err)
		for _, obstacle := range why.Obstacles {
			if obstacle.Code == fairlead.OverRate {
				fmt.Println(obstacle.Text)
			}
		}
		node.Advance(2 * time.Second)
		fmt.Println(len(node.Drain()), "job started")
	})
	// Output:
	// 1 job started
	// tenant "acme" is at its rate of 0.5 jobs per second; the next job can start in 2s
	// 1 job started
}

// Assign spreads the acceptable starts of many jobs over a span of time. Jobs that wait
// for slots then start in a fair order.
func ExampleClient_Assign() {
	example(func(t fairleadtest.TB, ctx context.Context) {
		node := fairleadtest.New(t, fairlead.NewMux())
		jobs := []*fairlead.Job{SendInvoice.Job(Invoice{ID: 1}), SendInvoice.Job(Invoice{ID: 2}), SendInvoice.Job(Invoice{ID: 3})}
		start := node.Now().Truncate(time.Hour)
		must(node.Client.Assign(ctx, fairlead.Assignment{Tenant: "acme", Start: start, End: start.Add(30 * time.Minute), Jobs: jobs}))
		for _, job := range jobs {
			fmt.Println(job.StartBy.Sub(start))
		}
	})
	// Output:
	// 10m0s
	// 20m0s
	// 30m0s
}

// Jobs with the same concurrency key run one at a time. The others are parked, as
// Explain shows.
func ExampleJob_concurrencyKey() {
	example(func(t fairleadtest.TB, ctx context.Context) {
		mux := fairlead.NewMux()
		SendInvoice.Handle(mux, func(context.Context, *fairlead.Job, Invoice) error { return nil })
		node := fairleadtest.New(t, mux)

		first, second := SendInvoice.Job(Invoice{ID: 1}), SendInvoice.Job(Invoice{ID: 2})
		first.ConcurrencyKey, second.ConcurrencyKey = "customer 7", "customer 7"
		must(node.Client.Enqueue(ctx, first, second))
		why, err := node.Client.Explain(ctx, second.ID)
		must(err)
		fmt.Println(why.State, why.Obstacles[0].Code, why.Obstacles[0].By[0] == first.ID)
		fmt.Println(len(node.Drain()), "jobs ran")
	})
	// Output:
	// parked at_gate true
	// 2 jobs ran
}
