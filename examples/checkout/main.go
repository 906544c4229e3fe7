// Command checkout is an HTTP service that also runs jobs. It stores each order and the job
// that sends its receipt in one transaction of its own: both exist, or neither does.
//
//	DATABASE_URL=postgres://user@localhost/shop go run ./examples/checkout
//	curl localhost:8080/orders -H 'Idempotency-Key: a1' -d '{"product":"kite","quantity":2}'
//
// A request that repeats a key changes nothing and returns the first order. An order that
// exceeds the stock leaves nothing behind: no row, no job. Ctrl-C ends requests, then jobs.
package main

import (
	"context"
	"errors"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/postgres"
)

// Shop is the example's HTTP service.
type Shop struct {
	pool  *pgxpool.Pool   // the shop's own tables
	store *postgres.Store // Fairlead's tables, in the same database
	jobs  *fairlead.Client
	send  func(ctx context.Context, o Order) error // sends a receipt
}

func main() {
	url := os.Getenv("DATABASE_URL")
	if url == "" {
		log.Fatal("this example needs PostgreSQL: set DATABASE_URL=postgres://user:password@host/database")
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:8080")
	if err == nil {
		err = run(ctx, url, listener, func(_ context.Context, o Order) error {
			log.Printf("receipt: order %d, %d × %s", o.ID, o.Quantity, o.Product)
			return nil
		})
	}
	if err != nil {
		log.Fatal(err)
	}
}

// run serves until ctx ends. It then accepts no more requests, completes the current ones,
// and gives running jobs time to finish.
func run(ctx context.Context, url string, listener net.Listener, send func(context.Context, Order) error) error {
	shop := &Shop{send: send}
	var err error
	if shop.pool, err = pgxpool.New(ctx, url); err != nil {
		return err
	}
	defer shop.pool.Close()
	if shop.store, err = postgres.New(ctx, shop.pool); err != nil {
		return err
	}
	defer shop.store.Close()
	shop.jobs = fairlead.NewClient(shop.store)
	if _, err := shop.pool.Exec(ctx, `
		create table if not exists stock (product text primary key, available int not null);
		create table if not exists orders (id bigserial primary key, product text not null, quantity int not null);
		insert into stock values ('kite', 10) on conflict do nothing`); err != nil {
		return err
	}
	routes := http.NewServeMux()
	routes.HandleFunc("POST /orders", shop.post)
	web := &http.Server{Handler: routes, ReadHeaderTimeout: 5 * time.Second}

	running, stopNode := context.WithCancel(context.WithoutCancel(ctx)) // the node ends after the last request
	ended, served := make(chan error, 1), make(chan error, 1)
	go func() { ended <- engine.Run(running, shop.store, shop.mux(), engine.Options{}) }()
	go func() { served <- web.Serve(listener) }()
	select {
	case <-ctx.Done():
	case err = <-served: // the server failed
	case err = <-ended: // the node failed
		ended <- nil
	}
	closing, cancel := context.WithTimeout(running, 10*time.Second)
	defer cancel()
	err = errors.Join(err, web.Shutdown(closing))
	stopNode()
	return errors.Join(err, <-ended)
}

// mux returns the handlers. The receipt handler keeps its jobs, and with them their keys,
// for a month.
func (s *Shop) mux() *fairlead.Mux {
	mux, month := fairlead.NewMux(), 30*24*time.Hour
	Receipt.HandleWith(mux, fairlead.HandlerOptions{MaxAttempts: 8, Retention: fairlead.Retention{Succeeded: month, Failed: month}},
		func(ctx context.Context, _ *fairlead.Job, o Order) error { return s.send(ctx, o) })
	return mux
}
