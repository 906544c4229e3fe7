package postgres

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/fairlead-io/fairlead/internal/reads"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// call is one statement and what to do with each of its rows.
type call struct {
	sql     string
	args    []any
	each    func(row sqlstore.Scanner) error // nil: its rows are ignored
	hit     *int64                           // how many rows it hit; nil: that is not wanted
	restart func()                           // runs before its rows are read, to drop those of a try that was rolled back
}

// hits sets hit if a statement returns a row.
func hits(hit *bool) func(sqlstore.Scanner) error {
	return func(sqlstore.Scanner) error {
		*hit = true
		return nil
	}
}

// idsCall reads ids.
func idsCall(ids *[]int64, text string, args ...any) call {
	return call{sql: text, args: args, restart: func() { *ids = nil }, each: func(row sqlstore.Scanner) error {
		var id int64
		err := row.Scan(&id)
		*ids = append(*ids, id)
		return err
	}}
}

// runner runs statements in order. Each sees what was committed before it began, and
// what the statements before it did.
type runner interface {
	run(ctx context.Context, calls ...call) error
}

// run executes the calls as one transaction in one round trip. It repeats the
// transaction if the server rolled it back in favour of another.
func (s *Store) run(ctx context.Context, calls ...call) error {
	return s.runOn(ctx, s.conns(ctx), calls)
}

// runOn is run on connections of a pool.
func (s *Store) runOn(ctx context.Context, pool *pgxpool.Pool, calls []call) error {
	return s.retry(ctx, func(ctx context.Context) error { return s.sendOnce(ctx, pool, call{sql: s.pin()}, calls) })
}

// runPinned is run where the first statement does more than pin; more is what follows
// it.
func (s *Store) runPinned(ctx context.Context, more call, calls ...call) error {
	return s.retry(ctx, func(ctx context.Context) error {
		return s.sendOnce(ctx, s.conns(ctx), call{sql: s.pin() + more.sql, args: more.args}, calls)
	})
}

// runPlain is run for statements that must not be pinned, because they read whole
// tables or need no plan. They depend on nothing that is cached, or compare it
// themselves.
func (s *Store) runPlain(ctx context.Context, calls ...call) error {
	return s.retry(ctx, func(ctx context.Context) error { return s.sendOnce(ctx, s.conns(ctx), call{}, calls) })
}

// plainRunner is runPlain as a runner.
type plainRunner struct {
	*Store
}

func (r plainRunner) run(ctx context.Context, calls ...call) error { return r.runPlain(ctx, calls...) }

// sendOnce runs calls as one transaction, after the call first if it has a statement.
func (s *Store) sendOnce(ctx context.Context, pool *pgxpool.Pool, first call, calls []call) error {
	var before, after []call
	if s.wrap {
		before, after = []call{{sql: "begin isolation level read committed"}}, []call{{sql: "commit"}}
	}
	if first.sql != "" {
		before = append(before, first)
	}
	if meter := reads.From(ctx); meter != nil {
		if err := s.measure(ctx, first, calls, meter); err != nil {
			return err
		}
	}
	return s.seated(ctx, func(ctx context.Context) error { return send(ctx, pool, &pgx.Batch{}, before, calls, after) })
}

// seated runs f, which needs a connection, once the call may have one.
func (s *Store) seated(ctx context.Context, f func(ctx context.Context) error) error {
	if s.conns(ctx) != s.pool {
		return f(ctx)
	}
	ctx, leave, err := s.seats.Take(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return f(ctx)
}

type batchSender interface {
	SendBatch(ctx context.Context, batch *pgx.Batch) pgx.BatchResults
}

// send makes groups of calls in one round trip. Outside of a transaction they form one,
// which ends with the last of them.
func send(ctx context.Context, sender batchSender, batch *pgx.Batch, groups ...[]call) (err error) {
	for _, calls := range groups {
		for _, c := range calls {
			batch.Queue(c.sql, c.args...)
		}
	}
	results := sender.SendBatch(ctx, batch)
	defer func() {
		// A failed commit shows only here.
		if closeErr := results.Close(); err == nil {
			err = closeErr
		}
	}()
	for _, calls := range groups {
		for _, c := range calls {
			if c.restart != nil {
				c.restart()
			}
			if err := readResult(results, c); err != nil {
				return err
			}
		}
	}
	return nil
}

func readResult(results pgx.BatchResults, c call) error {
	if c.each == nil {
		tag, err := results.Exec()
		if c.hit != nil {
			*c.hit = tag.RowsAffected()
		}
		return err
	}
	rows, err := results.Query()
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := c.each(rows); err != nil {
			return sqlstore.UnlessFull(err)
		}
	}
	return rows.Err()
}

// inTx runs several round trips in one transaction of the store. It may run f more than
// once.
func (s *Store) inTx(ctx context.Context, f func(ctx context.Context, r runner) error) error {
	return s.retry(ctx, func(ctx context.Context) error {
		return s.seated(ctx, func(ctx context.Context) error {
			return pgx.BeginTxFunc(ctx, s.conns(ctx), pgx.TxOptions{BeginQuery: s.server.Load().begin}, func(tx pgx.Tx) error {
				return f(ctx, pgxRunner{tx})
			})
		})
	})
}

// retry runs a transaction of the store within the time that a call may take. It
// repeats the transaction if the server rolled it back in favour of another or is
// another server, and marks errors that pass as unavailable.
func (s *Store) retry(ctx context.Context, f func(ctx context.Context) error) error {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	for try := 1; ; try++ {
		known := s.server.Load()
		err := decodeError(sqlstore.Retry(ctx, transient, func() error { return f(ctx) }))
		if try == renewTries || !errors.Is(err, errAnotherServer) {
			return unavailable(ctx, err)
		}
		if err := s.recognise(ctx, known); err != nil {
			return unavailable(ctx, err)
		}
	}
}

// withTimeout bounds a call by QueryTimeout, or by the caller's own earlier deadline.
func (s *Store) withTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	return sqlstore.WithTimeout(ctx, s.options.QueryTimeout)
}

// transient reports whether the server rolled a transaction back because other
// transactions were in the way. Another try may succeed.
func transient(err error) bool {
	const serializationFailure, deadlock = "40001", "40P01"
	var refusal *pgconn.PgError
	return errors.As(err, &refusal) && slices.Contains([]string{serializationFailure, deadlock, lockNotAvailable}, refusal.Code)
}

const lockNotAvailable = "55P03"

// lockTimedOut reports whether a transaction has waited for a lock for as long as it may.
func lockTimedOut(err error) bool {
	var refusal *pgconn.PgError
	return errors.As(err, &refusal) && refusal.Code == lockNotAvailable
}

// badInput reports whether the server refused a value, such as malformed JSON.
func badInput(err error) bool {
	var refusal *pgconn.PgError
	return errors.As(err, &refusal) && strings.HasPrefix(refusal.Code, "22")
}

// pgxRunner runs statements inside a transaction of pgx.
type pgxRunner struct {
	tx pgx.Tx
}

func (r pgxRunner) run(ctx context.Context, calls ...call) error {
	return send(ctx, r.tx, &pgx.Batch{}, calls)
}

// callersRunner runs statements inside a transaction of a caller.
type callersRunner struct {
	in runner
}

func (r callersRunner) run(ctx context.Context, calls ...call) error {
	return unavailable(ctx, r.in.run(ctx, calls...))
}

// sqlRunner runs statements inside a transaction of database/sql.
type sqlRunner struct {
	tx *sql.Tx
}

func (r sqlRunner) run(ctx context.Context, calls ...call) error {
	for _, c := range calls {
		if err := r.one(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

func (r sqlRunner) one(ctx context.Context, c call) (err error) {
	if c.each == nil {
		result, err := r.tx.ExecContext(ctx, c.sql, c.args...)
		if err == nil && c.hit != nil {
			*c.hit, err = result.RowsAffected()
		}
		return err
	}
	rows, err := r.tx.QueryContext(ctx, c.sql, c.args...)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := rows.Close(); err == nil {
			err = closeErr
		}
	}()
	for rows.Next() {
		if err := c.each(rows); err != nil {
			return sqlstore.UnlessFull(err)
		}
	}
	return rows.Err()
}
