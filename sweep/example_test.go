package sweep_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"sync/atomic"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/sqlite"
	"github.com/fairlead-io/fairlead/sweep"
	"github.com/fairlead-io/fairlead/sweep/items"
)

// Mailing is the data that the handler gets with every item.
type Mailing struct {
	Subject string
}

// send stands for a call of a mail service.
func send(context.Context, int64, string) error { return nil }

// runNode runs a node until stop is called.
func runNode(store engine.Source, mux *fairlead.Mux) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- engine.Run(ctx, store, mux, engine.Options{Logger: slog.New(slog.DiscardHandler)}) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			log.Print(err)
		}
	}
}

// Call a handler for each number from 1 to 500, at most 16 at once.
func Example() {
	ctx := context.Background()
	store, err := sqlite.Open(ctx, ":memory:")
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	mux := fairlead.NewMux()
	items.Handle(mux, store, "mail", items.Options{}, func(ctx context.Context, item items.Item[Mailing]) error {
		return send(ctx, item.Index, item.Data.Subject)
	})
	defer runNode(store, mux)()

	sweeps := sweep.NewClient(store)
	s, err := sweeps.Put(ctx, sweep.Sweep{
		Name: "newsletter", Kind: "mail", Data: []byte(`{"Subject":"News"}`),
		From: 1, To: 501, InFlight: 16,
	})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := sweeps.Start(ctx, s.ID, "ada"); err != nil {
		log.Fatal(err)
	}
	if s, err = sweeps.Wait(ctx, s.ID); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: %d of %d items done\n", s.State, s.Done, s.Total)
	// Output:
	// finished: 500 of 500 items done
}

// List the items that failed, and retry them after removing the cause.
func ExampleClient_Retry() {
	ctx := context.Background()
	store, err := sqlite.Open(ctx, ":memory:")
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	var repaired atomic.Bool
	mux := fairlead.NewMux()
	items.Handle(mux, store, "mail", items.Options{}, func(_ context.Context, item items.Item[Mailing]) error {
		if item.Index == 7 && !repaired.Load() {
			return errors.New("the address bounces")
		}
		return nil
	})
	defer runNode(store, mux)()

	sweeps := sweep.NewClient(store)
	s, err := sweeps.Put(ctx, sweep.Sweep{Name: "newsletter", Kind: "mail", To: 10, Attempts: 1})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := sweeps.Start(ctx, s.ID, "ada"); err != nil {
		log.Fatal(err)
	}
	if _, err = sweeps.Wait(ctx, s.ID); err != nil {
		log.Fatal(err)
	}
	failed, err := sweeps.FailedItems(ctx, sweep.ItemFilter{Sweep: s.ID})
	if err != nil {
		log.Fatal(err)
	}
	for _, item := range failed {
		fmt.Printf("item %d: %s\n", item.Index, item.Error)
	}

	repaired.Store(true)
	if _, err := sweeps.Retry(ctx, s.ID, "ada"); err != nil {
		log.Fatal(err)
	}
	if s, err = sweeps.Wait(ctx, s.ID); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: %d done, %d failed\n", s.State, s.Done, s.Abandoned)
	// Output:
	// item 7: the address bounces
	// finished: 10 done, 0 failed
}

// Declare a sweep each time the program starts. Ensure creates the sweep, or updates it if
// its declaration has changed.
func ExampleClient_Ensure() {
	ctx := context.Background()
	store, err := sqlite.Open(ctx, ":memory:")
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	sweeps := sweep.NewClient(store)

	newsletter := sweep.Sweep{Name: "newsletter", Kind: "mail", To: 40_000_000, InFlight: 64, Rate: 500}
	ensured, err := sweeps.Ensure(ctx, newsletter)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("created:", ensured.Created, ensured.State)

	newsletter.Rate = 800 // a new version of the program
	if ensured, err = sweeps.Ensure(ctx, newsletter); err != nil {
		log.Fatal(err)
	}
	for _, change := range ensured.Changed {
		fmt.Println(change)
	}
	// Output:
	// created: true created
	// rate: 500 → 800
}
