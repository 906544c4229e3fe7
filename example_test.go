package fairlead_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/sqlite"
)

type Invoice struct {
	ID int
}

// SendInvoice is declared once and shared by the code that enqueues jobs and the code
// that handles them.
var SendInvoice = fairlead.NewKind[Invoice]("invoice.send")

// Enqueue a job and run it. Most programs run the node in a long-running process, and
// create clients wherever they enqueue jobs.
func Example() {
	ctx := context.Background()
	store, cleanup := openExample(ctx)
	defer cleanup()

	mux := fairlead.NewMux()
	SendInvoice.Handle(mux, func(_ context.Context, job *fairlead.Job, in Invoice) error {
		fmt.Printf("sending invoice %d, attempt %d\n", in.ID, job.Attempt)
		return nil
	})
	stop := startNode(store, mux)

	client := fairlead.NewClient(store)
	job := SendInvoice.Job(Invoice{ID: 7})
	if err := client.Enqueue(ctx, job); err != nil {
		log.Fatal(err)
	}
	done, err := client.Wait(ctx, job.ID)
	if err != nil {
		log.Fatal(err)
	}
	stop()
	fmt.Println(done.State)
	// Output:
	// sending invoice 7, attempt 1
	// succeeded
}

// openExample opens a database in a temporary folder.
func openExample(ctx context.Context) (store *sqlite.Store, cleanup func()) {
	dir, err := os.MkdirTemp("", "fairlead-example")
	if err != nil {
		log.Fatal(err)
	}
	store, err = sqlite.Open(ctx, filepath.Join(dir, "jobs.db"))
	if err != nil {
		log.Fatal(err)
	}
	return store, func() {
		_ = store.Close()
		_ = os.RemoveAll(dir)
	}
}

// startNode runs a node until stop is called.
func startNode(store driver.Store, mux *fairlead.Mux) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- engine.Run(ctx, store, mux, engine.Options{Logger: slog.New(slog.DiscardHandler)}) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			log.Fatal(err)
		}
	}
}
