// Command mailing sends a mail to each of five million users: at a limited rate, with a
// limited number of mails in flight, and with failed mails retried at the end. It is a
// sweep, which stores only its progress and no data per user.
//
//	go run ./examples/mailing
//
// It prints its progress every second. Stop it with Ctrl-C and start it again: it resumes
// where it stopped, from the file mailing.db. Use -users and -rate to change the amount of
// work.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/sqlite"
	"github.com/fairlead-io/fairlead/sweep"
	"github.com/fairlead-io/fairlead/sweep/items"
)

// Campaign holds the content shared by all mails.
type Campaign struct{ Subject string }

// Mailer sends mails. While it is down, mails to the domain of every thousandth user fail.
type Mailer struct {
	sent atomic.Int64
	up   atomic.Bool
}

func (m *Mailer) send(_ context.Context, item items.Item[Campaign]) error {
	if item.Index%1000 == 999 && !m.up.Load() {
		return fmt.Errorf("user %d: %q was rejected", item.Index, item.Data.Subject)
	}
	m.sent.Add(1)
	return nil
}

// mailing returns the sweep. An item is the number of a user, starting at 0.
func mailing(users int64, rate float64) sweep.Sweep {
	return sweep.Sweep{
		Name: "mailing", Kind: "mail", Data: []byte(`{"Subject":"News"}`), To: users,
		Rate:     rate,                                          // mails per second on all nodes together
		InFlight: 64,                                            // concurrent mails on all nodes together
		Window:   10_000,                                        // how far mails may run ahead of one that hangs
		Shards:   2,                                             // number of nodes that can share the work
		Attempts: 2, Backoff: time.Second, Timeout: time.Minute, // of one mail
		Budget: sweep.Budget{Percent: 1}, // the sweep stops if more fail
	}
}

func main() {
	users := flag.Int64("users", 5_000_000, "how many users there are")
	rate := flag.Float64("rate", 20_000, "mails per second")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, "mailing.db", mailing(*users, *rate), &Mailer{}, os.Stdout); err != nil && ctx.Err() == nil {
		log.Fatal(err)
	}
}

// run runs a node until all mails are sent or ctx ends.
func run(ctx context.Context, file string, declared sweep.Sweep, mailer *Mailer, out io.Writer) (err error) {
	store, err := sqlite.Open(ctx, file)
	if err != nil {
		return err
	}
	defer store.Close()
	mux := fairlead.NewMux()
	items.Handle(mux, store, "mail", items.Options{}, mailer.send)
	running, stopNode := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- engine.Run(running, store, mux, engine.Options{}) }()
	defer func() {
		stopNode()
		err = errors.Join(err, <-ended)
	}()

	sweeps := sweep.NewClient(store)
	ensured, err := sweeps.Ensure(ctx, declared)
	if err != nil {
		return err
	}
	if ensured.State == sweep.Created { // otherwise it resumes where it stopped
		if _, err := sweeps.Start(ctx, ensured.ID, "mailing"); err != nil {
			return err
		}
	}
	s, err := show(ctx, sweeps, ensured.ID, out)
	if err != nil || s.Abandoned == 0 {
		return err
	}
	failed, err := sweeps.FailedItems(ctx, sweep.ItemFilter{Sweep: s.ID, Limit: 1})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d mails failed, the first: %s\n", s.Abandoned, failed[0].Error)
	mailer.up.Store(true)
	if _, err := sweeps.Retry(ctx, s.ID, "mailing"); err != nil {
		return err
	}
	_, err = show(ctx, sweeps, s.ID, out)
	return err
}

// show prints the progress of a sweep every second until it has stopped or finished.
func show(ctx context.Context, sweeps *sweep.Client, id int64, out io.Writer) (sweep.Sweep, error) {
	for {
		second, cancel := context.WithTimeout(ctx, time.Second)
		s, err := sweeps.Wait(second, id)
		cancel()
		if err != nil && (ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded)) {
			return s, err
		}
		fmt.Fprintf(out, "%s: %d of %d sent, %d failed, %.0f per second\n", s.State, s.Done, s.Total, s.Abandoned, s.Progress.Rate)
		if err == nil {
			return s, nil
		}
	}
}
