package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// roundTrips are the round trips of one transaction that other transactions wait for:
// the begin travels with the first of them and the commit with the last.
type roundTrips struct {
	conn *pgxpool.Conn
	open bool
}

// inRoundTrips runs a transaction of few round trips. It rolls back unless f calls
// last. It may run f more than once.
func (s *Store) inRoundTrips(ctx context.Context, f func(ctx context.Context, t *roundTrips) error) error {
	return s.retry(ctx, func(ctx context.Context) error {
		return s.seated(ctx, func(ctx context.Context) error { return s.inRoundTripsOnce(ctx, f) })
	})
}

func (s *Store) inRoundTripsOnce(ctx context.Context, f func(ctx context.Context, t *roundTrips) error) error {
	conn, err := s.conns(ctx).Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release() // it closes the connection if the rollback has failed
	t := &roundTrips{conn: conn}
	err = f(ctx, t)
	if t.open {
		_, _ = conn.Exec(ctx, "rollback")
	}
	return err
}

// first begins the transaction and runs calls.
func (t *roundTrips) first(ctx context.Context, calls ...call) error {
	t.open = true
	return send(ctx, t.conn, &pgx.Batch{}, []call{{sql: "begin isolation level read committed"}}, calls)
}

// run runs calls within the transaction.
func (t *roundTrips) run(ctx context.Context, calls ...call) error {
	return send(ctx, t.conn, &pgx.Batch{}, calls)
}

// last runs calls and commits.
func (t *roundTrips) last(ctx context.Context, calls ...call) error {
	err := send(ctx, t.conn, &pgx.Batch{}, calls, []call{{sql: "commit"}})
	t.open = err != nil
	return err
}
