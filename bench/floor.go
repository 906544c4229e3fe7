package main

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/fairlead-io/fairlead/internal/bench"
)

// floorSystem is not a scheduler. It makes the two commits that every scheduler needs, one
// that stores a job and one that leases it, each with the simplest possible statement, and
// passes the job in memory. Its latency is the part of every scheduler's latency that the
// machine and the database cause.
type floorSystem struct {
	pool *pgxpool.Pool
	jobs chan stored
}

type stored struct {
	id   int64
	args bench.Args
}

func openFloor(ctx context.Context, url string) (*floorSystem, error) {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return nil, err
	}
	if _, err := pool.Exec(ctx, "create table floor (id bigserial primary key, args bytea, running bool not null default false)"); err != nil {
		pool.Close()
		return nil, err
	}
	return &floorSystem{pool: pool, jobs: make(chan stored)}, nil
}

// Enqueue stores each job.
func (s *floorSystem) Enqueue(ctx context.Context, batch []bench.Args) error {
	for _, args := range batch {
		job := stored{args: args}
		if err := s.pool.QueryRow(ctx, "insert into floor (args) values ($1) returning id", []byte(args.Data)).Scan(&job.id); err != nil {
			return err
		}
		select {
		case s.jobs <- job:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Work leases each job.
func (s *floorSystem) Work(ctx context.Context, events bench.Events) error {
	for {
		select {
		case job := <-s.jobs:
			if _, err := s.pool.Exec(ctx, "update floor set running = true where id = $1", job.id); err != nil {
				return err
			}
			events.Started(job.args.Waited())
			events.Ended()
		case <-ctx.Done():
			return nil
		}
	}
}

// Close closes the connections.
func (s *floorSystem) Close() error {
	s.pool.Close()
	return nil
}
