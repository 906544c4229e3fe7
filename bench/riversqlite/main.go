// Command riversqlite measures River on SQLite for the comparison in the parent directory.
// It is a separate module because River's SQLite driver requires an older version of River
// than its PostgreSQL driver.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
	_ "modernc.org/sqlite" // the driver that Fairlead uses too

	"github.com/fairlead-io/fairlead/internal/bench"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := bench.ServeOrder(ctx, os.Stdin, os.Stdout, measure)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "riversqlite:", err)
		os.Exit(1)
	}
}

func measure(ctx context.Context, order bench.Order) (_ bench.Result, err error) {
	system, err := open(ctx, order.URL)
	if err != nil {
		return bench.Result{}, err
	}
	defer func() { err = errors.Join(err, system.db.Close()) }()
	server, err := bench.OpenServer(ctx, order.URL)
	if err != nil {
		return bench.Result{}, err
	}
	return bench.Bench{Spec: order.Spec, Scheduler: system, Server: server}.Run(ctx)
}

// riverSystem is River on SQLite, tuned for throughput.
type riverSystem struct {
	db     *sql.DB
	client *river.Client[*sql.Tx]
	worker *worker
}

func open(ctx context.Context, url string) (*riverSystem, error) {
	// Same durability as Fairlead: every commit is synced.
	db, err := sql.Open("sqlite", "file:"+strings.TrimPrefix(url, "sqlite://")+
		"?_pragma=journal_mode(wal)&_pragma=synchronous(full)&_pragma=busy_timeout(5000)&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // as recommended in its documentation
	s := &riverSystem{db: db, worker: &worker{}}
	driver := riversqlite.New(db)
	migrator, err := rivermigrate.New(driver, nil)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	workers := river.NewWorkers()
	river.AddWorker(workers, s.worker)
	s.client, err = river.NewClient(driver, &river.Config{
		FetchCooldown:     2 * time.Millisecond,
		FetchPollInterval: 20 * time.Millisecond,
		Logger:            slog.New(slog.DiscardHandler),
		Queues:            map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 2000}},
		Workers:           workers,
	})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// Enqueue inserts all jobs in one transaction.
func (s *riverSystem) Enqueue(ctx context.Context, batch []bench.Args) error {
	jobs := make([]river.InsertManyParams, len(batch))
	for i, a := range batch {
		jobs[i].Args = args{a}
	}
	_, err := s.client.InsertMany(ctx, jobs)
	return err
}

// Work runs the client's workers.
func (s *riverSystem) Work(ctx context.Context, events bench.Events) error {
	// Events are dropped if the channel is full, so make it large enough.
	const many = 1 << 20
	s.worker.events = events
	completed, unsubscribe := s.client.SubscribeConfig(&river.SubscribeConfig{
		ChanSize: many,
		Kinds:    []river.EventKind{river.EventKindJobCompleted},
	})
	var counting sync.WaitGroup
	defer counting.Wait()
	defer unsubscribe()
	counting.Go(func() {
		for range completed {
			events.Ended()
		}
	})
	background := context.WithoutCancel(ctx)
	if err := s.client.Start(background); err != nil {
		return err
	}
	<-ctx.Done()
	return s.client.Stop(background)
}

type args struct {
	bench.Args
}

// Kind returns the type of job.
func (args) Kind() string { return "bench" }

type worker struct {
	river.WorkerDefaults[args]
	events bench.Events
}

// Work is the handler.
func (w *worker) Work(_ context.Context, job *river.Job[args]) error {
	w.events.Started(job.Args.Waited())
	return nil
}
