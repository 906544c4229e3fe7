package batch_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"sync"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/sqlite"
)

// Shop is a system with prices that batches change. A program would call an API or update
// a table.
type Shop struct {
	mu     sync.Mutex
	prices map[string]json.RawMessage
}

// Price returns the price of a product.
func (s *Shop) Price(product string) json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.prices[product]
}

// SetPrice changes the price of a product.
func (s *Shop) SetPrice(product string, price json.RawMessage) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.prices[product]; !known {
		return errors.New("unknown product")
	}
	s.prices[product] = price
	return nil
}

// Add adds a product with its price.
func (s *Shop) Add(product, price string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prices[product] = json.RawMessage(price)
}

// Reprice registers the operation that changes prices.
func (s *Shop) Reprice(mux *fairlead.Mux) {
	batch.Handle(mux, batch.Operation{
		TargetType: "product",
		BatchType:  "reprice",
		// A rollback restores the price that BuildParam returns.
		BuildParam: func(_ context.Context, task batch.TaskArgs) (json.RawMessage, error) {
			return s.Price(task.Target.ID), nil
		},
		Process: func(_ context.Context, task batch.TaskArgs) error {
			return s.SetPrice(task.Target.ID, task.After)
		},
	})
}

// reprice returns the change of one price.
func reprice(product, price string) batch.Change {
	return batch.Change{Target: batch.Target{Type: "product", ID: product}, After: json.RawMessage(price)}
}

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

// Change several prices, and roll all of them back.
func Example() {
	ctx := context.Background()
	store, err := sqlite.Open(ctx, ":memory:")
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	shop := &Shop{prices: map[string]json.RawMessage{"kite": []byte("20"), "ball": []byte("10")}}
	mux := fairlead.NewMux()
	shop.Reprice(mux)
	defer runNode(store, mux)()

	batches := batch.NewClient(store).Knowing(mux)
	sale, err := batches.Start(ctx, batch.Batch{Name: "summer sale", Type: "reprice"},
		reprice("kite", "15"), reprice("ball", "8"))
	if err != nil {
		log.Fatal(err)
	}
	if sale, err = batches.Wait(ctx, sale.ID); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: kite %s, ball %s\n", sale.State(), shop.Price("kite"), shop.Price("ball"))

	if _, err := batches.RollBack(ctx, sale.ID, batch.RollBack{}); err != nil {
		log.Fatal(err)
	}
	if sale, err = batches.Wait(ctx, sale.ID); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: kite %s, ball %s\n", sale.State(), shop.Price("kite"), shop.Price("ball"))
	// Output:
	// success: kite 15, ball 8
	// rollback_success: kite 20, ball 10
}

// Retry the failed tasks of a batch after removing the cause.
func ExampleClient_Retry() {
	ctx := context.Background()
	store, err := sqlite.Open(ctx, ":memory:")
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	shop := &Shop{prices: map[string]json.RawMessage{"kite": []byte("20")}}
	mux := fairlead.NewMux()
	shop.Reprice(mux)
	defer runNode(store, mux)()

	batches := batch.NewClient(store).Knowing(mux)
	sale, err := batches.Start(ctx, batch.Batch{Name: "summer sale", Type: "reprice"},
		reprice("kite", "15"), reprice("boat", "70"))
	if err != nil {
		log.Fatal(err)
	}
	if sale, err = batches.Wait(ctx, sale.ID); err != nil {
		log.Fatal(err)
	}
	failed, err := batches.Tasks(ctx, batch.TaskFilter{Batch: sale.ID, States: []batch.TaskState{batch.TaskFail}})
	if err != nil {
		log.Fatal(err)
	}
	for _, task := range failed {
		fmt.Printf("%s: %s failed: %s\n", sale.State(), task.Target.ID, task.Info)
	}

	shop.Add("boat", "90")
	if _, err := batches.Retry(ctx, sale.ID); err != nil {
		log.Fatal(err)
	}
	if sale, err = batches.Wait(ctx, sale.ID); err != nil {
		log.Fatal(err)
	}
	fmt.Println(sale.State())
	// Output:
	// partial_fail: boat failed: unknown product
	// success
}

// Release one task first, and the others only if it succeeds.
func ExampleCanary() {
	ctx := context.Background()
	store, err := sqlite.Open(ctx, ":memory:")
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	shop := &Shop{prices: map[string]json.RawMessage{"kite": []byte("20"), "ball": []byte("10"), "boat": []byte("90")}}
	mux := fairlead.NewMux()
	shop.Reprice(mux)
	defer runNode(store, mux)()

	batches := batch.NewClient(store).Knowing(mux)
	sale, err := batches.Start(ctx, batch.Batch{
		Name:       "summer sale",
		Type:       "reprice",
		Canary:     batch.Canary{Tasks: 1, Ratio: 1}, // with a Ratio of zero, call Approve
		MaxRunning: 10,
		StopAfter:  batch.Threshold{Percent: 5},
	}, reprice("kite", "15"), reprice("ball", "8"), reprice("boat", "70"))
	if err != nil {
		log.Fatal(err)
	}
	if sale, err = batches.Wait(ctx, sale.ID); err != nil {
		log.Fatal(err)
	}
	fmt.Println(sale.State(), sale.Tally.Success)
	// Output:
	// success 3
}

// Add the tasks of a large batch a few at a time, for example while reading a file.
func ExampleClient_Begin() {
	ctx := context.Background()
	store, err := sqlite.Open(ctx, ":memory:")
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	shop := &Shop{prices: map[string]json.RawMessage{"kite": []byte("20"), "ball": []byte("10")}}
	mux := fairlead.NewMux()
	shop.Reprice(mux)
	batches := batch.NewClient(store).Knowing(mux)

	draft, err := batches.Begin(ctx, batch.Batch{Name: "summer sale", Type: "reprice"})
	if err != nil {
		log.Fatal(err)
	}
	for _, product := range []string{"kite", "ball"} {
		if err := draft.Add(ctx, reprice(product, "5")); err != nil {
			log.Fatal(err)
		}
	}
	sale, err := draft.Open(ctx) // starts the batch
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sale.State(), sale.Total)
	// Output:
	// pending 2
}
