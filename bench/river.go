package main

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/fairlead-io/fairlead/internal/bench"
)

// riverSystem is River on PostgreSQL.
type riverSystem struct {
	pool   *pgxpool.Pool
	client *river.Client[pgx.Tx]
	worker *riverWorker
}

// tunedRiver fetches as often as useful, and as many jobs as it can run.
func tunedRiver() *river.Config {
	return &river.Config{
		FetchCooldown:     2 * time.Millisecond,
		FetchPollInterval: 20 * time.Millisecond,
		Queues:            map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 2000}},
	}
}

// defaultRiver returns the configuration in River's guide.
func defaultRiver() *river.Config {
	return &river.Config{Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 100}}}
}

func openRiver(ctx context.Context, url string, config *river.Config) (*riverSystem, error) {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return nil, err
	}
	s := &riverSystem{pool: pool, worker: &riverWorker{}}
	if err := s.open(ctx, config); err != nil {
		pool.Close()
		return nil, err
	}
	return s, nil
}

func (s *riverSystem) open(ctx context.Context, config *river.Config) error {
	driver := riverpgxv5.New(s.pool)
	migrator, err := rivermigrate.New(driver, nil)
	if err != nil {
		return err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	config.Logger = slog.New(slog.DiscardHandler)
	config.Workers = river.NewWorkers()
	river.AddWorker(config.Workers, s.worker)
	s.client, err = river.NewClient(driver, config)
	return err
}

// Enqueue stores many jobs with COPY, River's fastest method, and a single one with a
// regular insert.
func (s *riverSystem) Enqueue(ctx context.Context, batch []bench.Args) error {
	if len(batch) == 1 {
		_, err := s.client.Insert(ctx, riverArgs{batch[0]}, nil)
		return err
	}
	jobs := make([]river.InsertManyParams, len(batch))
	for i, args := range batch {
		jobs[i].Args = riverArgs{args}
	}
	_, err := s.client.InsertManyFast(ctx, jobs)
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

// Close closes the connections.
func (s *riverSystem) Close() error {
	s.pool.Close()
	return nil
}

type riverArgs struct {
	bench.Args
}

// Kind returns the type of job.
func (riverArgs) Kind() string { return "bench" }

type riverWorker struct {
	river.WorkerDefaults[riverArgs]
	events bench.Events
}

// Work is the handler.
func (w *riverWorker) Work(_ context.Context, job *river.Job[riverArgs]) error {
	w.events.Started(job.Args.Waited())
	return nil
}
