package engine_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/postgres"
	"github.com/fairlead-io/fairlead/sqlite"
)

type Invoice struct {
	ID int
}

// SendInvoice is the kind of the jobs in the examples.
var SendInvoice = fairlead.NewKind[Invoice]("invoice.send")

// Run a node until the process gets a signal. Running jobs then have half a minute to
// finish.
func ExampleRun() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	store, err := postgres.Open(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()

	mux := fairlead.NewMux()
	SendInvoice.Handle(mux, func(_ context.Context, _ *fairlead.Job, in Invoice) error {
		fmt.Println("sending invoice", in.ID)
		return nil
	})
	err = engine.Run(ctx, store, mux, engine.Options{
		Name:         "invoices",
		Slots:        64,
		Queues:       []engine.Queue{{Name: fairlead.DefaultQueue}, {Name: "urgent", Slots: 8}},
		DrainTimeout: 30 * time.Second,
	})
	if err != nil {
		log.Print(err)
	}
}

// Run a node in the background of a program, and stop it when the work is done.
func ExampleNew() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	store, err := sqlite.Open(ctx, ":memory:")
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	mux := fairlead.NewMux()
	SendInvoice.Handle(mux, func(_ context.Context, _ *fairlead.Job, in Invoice) error {
		fmt.Println("sending invoice", in.ID)
		return nil
	})

	node, err := engine.New(store, mux, engine.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		log.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- node.Run(ctx) }()

	client := fairlead.NewClient(store)
	job := SendInvoice.Job(Invoice{ID: 7})
	if err := client.Enqueue(ctx, job); err != nil {
		log.Fatal(err)
	}
	if _, err := client.Wait(ctx, job.ID); err != nil {
		log.Fatal(err)
	}
	fmt.Println("ready:", node.Ready())
	stop()
	fmt.Println("error:", <-ended)
	// Output:
	// sending invoice 7
	// ready: true
	// error: <nil>
}

// Call a function for each job that fails for good.
func ExampleListener() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	store, err := sqlite.Open(ctx, ":memory:")
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	mux := fairlead.NewMux()
	SendInvoice.Handle(mux, func(context.Context, *fairlead.Job, Invoice) error {
		return fairlead.Fatal(errors.New("unknown customer"))
	})

	reported := make(chan string)
	ended := make(chan error)
	go func() {
		ended <- engine.Run(ctx, store, mux, engine.Options{
			Logger: slog.New(slog.DiscardHandler),
			Listeners: []engine.Listener{{
				OnFailed: func(_ context.Context, job *fairlead.Job, err error) {
					reported <- fmt.Sprintf("%s %s failed: %v", job.Kind, job.Args, err)
				},
			}},
		})
	}()
	if err := fairlead.NewClient(store).Enqueue(ctx, SendInvoice.Job(Invoice{ID: 7})); err != nil {
		log.Fatal(err)
	}
	fmt.Println(<-reported)
	stop()
	fmt.Println("error:", <-ended)
	// Output:
	// invoice.send {"ID":7} failed: unknown customer
	// error: <nil>
}
