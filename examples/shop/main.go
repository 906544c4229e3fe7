// Command shop is a whole program on Fairlead: an order and the job that ships it are
// stored in one transaction, a report is made every night, prices are changed as a batch
// that can be rolled back, and a sweep renders every picture of the catalog.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/sqlite"
	"github.com/fairlead-io/fairlead/sweep"
	"github.com/fairlead-io/fairlead/sweep/items"
)

// Order is what a customer wants.
type Order struct{ ID, Customer string }

// The kinds of jobs, declared once for those who enqueue and those who handle.
var ship, report = fairlead.NewKind[Order]("shop.ship"), fairlead.NewKind[struct{}]("shop.report")

// Shop is the program.
type Shop struct {
	store  *sqlite.Store
	send   func(ctx context.Context, o Order) error // hands a parcel to the carrier
	prices sync.Map                                 // product → JSON
}

// main is a node until it gets a signal to stop; jobs that run then are given time to finish.
func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	store, err := sqlite.Open(ctx, "shop.db") // or postgres.Open, mysql.Open
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	shop := &Shop{store: store, send: func(context.Context, Order) error { return nil }}
	if err = shop.declare(ctx); err == nil {
		err = engine.Run(ctx, store, shop.mux(), engine.Options{})
	}
	log.Print("the node has ended: ", err)
}

// declare brings the database to what the program needs, however many nodes start at once.
func (s *Shop) declare(ctx context.Context) error {
	_, err := s.store.DB().ExecContext(ctx, "create table if not exists orders (id text primary key, customer text)")
	_, nightly := schedule.NewClient(s.store).Ensure(ctx, schedule.Schedule{Name: "report", Cron: "0 3 * * *", Zone: "Europe/Paris", Job: *report.Job(struct{}{})})
	_, catalog := sweep.NewClient(s.store).Ensure(ctx, sweep.Sweep{Name: "catalog", Kind: "thumbnail", To: 40_000_000, InFlight: 64, Rate: 500})
	_, tenant := fairlead.NewClient(s.store).PutTenant(ctx, fairlead.Tenant{Name: "acme", MaxRunning: 10})
	if errors.Is(tenant, fairlead.ErrConflict) { // it is declared already, and may have been changed since
		tenant = nil
	}
	return errors.Join(err, nightly, catalog, tenant)
}

// mux says what is done with jobs, with tasks of batches and with items of sweeps.
func (s *Shop) mux() *fairlead.Mux {
	mux := fairlead.NewMux()
	ship.HandleWith(mux, fairlead.HandlerOptions{MaxAttempts: 5, Retry: fairlead.Exponential(time.Second, time.Minute)},
		func(ctx context.Context, _ *fairlead.Job, o Order) error { return s.send(ctx, o) })
	report.Handle(mux, func(context.Context, *fairlead.Job, struct{}) error { return nil })
	batch.Handle(mux, batch.Operation{TargetType: "product", BatchType: "reprice", BuildParam: s.price, Process: s.setPrice})
	items.Handle(mux, s.store, "thumbnail", items.Options{}, func(context.Context, items.Item[struct{}]) error { return nil })
	return mux
}

// place stores an order and the job that ships it, both or neither. An order is shipped
// once, however often it is placed.
func (s *Shop) place(ctx context.Context, o Order) error {
	tx, err := s.store.DB().BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // it has ended if all went well
	job, jobs := ship.Job(o), s.store.Tx(tx)
	job.Tenant, job.Key, job.KeyScope = o.Customer, "order "+o.ID, fairlead.KeyForever
	_, stored := tx.ExecContext(ctx, "insert or ignore into orders values (?, ?)", o.ID, o.Customer)
	if err := errors.Join(stored, fairlead.NewClient(s.store).Within(jobs).Enqueue(ctx, job)); err != nil {
		return err
	}
	defer jobs.Wake()
	return tx.Commit()
}

// price is what a rollback puts back.
func (s *Shop) price(_ context.Context, task batch.TaskArgs) (json.RawMessage, error) {
	price, _ := s.prices.LoadOrStore(task.Target.ID, "100")
	return json.RawMessage(price.(string)), nil
}

func (s *Shop) setPrice(_ context.Context, task batch.TaskArgs) error {
	s.prices.Store(task.Target.ID, string(task.After))
	return nil
}
