package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// trips are the round trips of one transaction that others wait for: its begin
// travels with the first of them and its commit with the last.
type trips struct {
	conn *pgxpool.Conn
	open bool
}

// travel runs a transaction of few round trips. What f does not end with last is
// undone. It may run f more than once.
func (s *Store) travel(ctx context.Context, f func(ctx context.Context, t *trips) error) error {
	return s.retry(ctx, func(ctx context.Context) error {
		return s.seated(ctx, func(ctx context.Context) error { return s.travelOnce(ctx, f) })
	})
}

func (s *Store) travelOnce(ctx context.Context, f func(ctx context.Context, t *trips) error) error {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release() // which closes it if the rollback has failed
	t := &trips{conn: conn}
	err = f(ctx, t)
	if t.open {
		_, _ = conn.Exec(ctx, "rollback")
	}
	return err
}

// first begins the transaction with some calls.
func (t *trips) first(ctx context.Context, calls ...call) error {
	t.open = true
	return send(ctx, t.conn, &pgx.Batch{}, []call{{sql: "begin isolation level read committed"}}, calls)
}

// run makes calls on the way.
func (t *trips) run(ctx context.Context, calls ...call) error {
	return send(ctx, t.conn, &pgx.Batch{}, calls)
}

// last makes calls and commits.
func (t *trips) last(ctx context.Context, calls ...call) error {
	err := send(ctx, t.conn, &pgx.Batch{}, calls, []call{{sql: "commit"}})
	t.open = err != nil
	return err
}
