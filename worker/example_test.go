package worker_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/sweep/items"
	"github.com/fairlead-io/fairlead/worker"
)

// Mail is the args of jobs of kind "mail".
type Mail struct {
	To string `json:"to"`
}

var mail = fairlead.NewKind[Mail]("mail")

// Run jobs of kind "mail", at most eight at once, until the process gets a signal. The
// handlers are the same as in a program with its own node.
func Example() {
	mux := fairlead.NewMux()
	mail.Handle(mux, func(ctx context.Context, _ *fairlead.Job, args Mail) error {
		fmt.Println("sending to", args.To)
		return fairlead.SetOutput(ctx, "sent")
	})
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := worker.Run(ctx, mux, worker.Options{
		Server: "https://fairlead.example.com",
		Token:  os.Getenv("FAIRLEAD_TOKEN"),
		Name:   "mailer",
		Slots:  8,
		Queues: []engine.Queue{{Name: "mail"}},
	})
	if err != nil {
		log.Print(err)
	}
}

// Handle the items of sweeps on a remote worker, which reads them from its own files.
func ExampleHandleSweep() {
	mux := fairlead.NewMux()
	worker.HandleSweep(mux, "import", items.Options{Roots: []string{"/var/lib/imports"}}, func(_ context.Context, item items.Item[json.RawMessage]) error {
		fmt.Println("line", item.Index, string(item.Text))
		return nil
	})
	err := worker.Run(context.Background(), mux, worker.Options{
		Server: "https://fairlead.example.com",
		Token:  os.Getenv("FAIRLEAD_TOKEN"),
	})
	if err != nil {
		log.Print(err)
	}
}
