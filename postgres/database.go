package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// database is the store as those features see it that are written once for all stores.
type database struct {
	*Store
}

// WithTimeout implements sqlstore.Scheduling.
func (d database) WithTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	return d.withTimeout(ctx)
}

// InTx implements sqlstore.Database.
func (d database) InTx(ctx context.Context, verb string, f func(ctx context.Context, db sqlstore.DB) error) error {
	var db *pipeline
	err := d.Store.retry(ctx, func(ctx context.Context) error {
		return d.Store.seated(ctx, func(ctx context.Context) error {
			own := &ownTx{store: d.Store}
			defer own.end(ctx)
			db = own.pipeline(d.Store.sql.BoundIdle)
			return db.do(ctx, f)
		})
	})
	if err != nil {
		return fmt.Errorf("%s: %w", verb, err)
	}
	if db.later {
		d.Store.notifier.later()
	}
	return nil
}

// Read implements sqlstore.Database.
func (d database) Read(ctx context.Context, verb string, f func(ctx context.Context, db sqlstore.DB) error) error {
	return d.read(ctx, verb, d.Store.pin, f)
}

// ReadAll implements sqlstore.Database: the plans of its statements are not pinned.
func (d database) ReadAll(ctx context.Context, verb string, f func(ctx context.Context, db sqlstore.DB) error) error {
	return d.read(ctx, verb, func() string { return "" }, f)
}

func (d database) read(ctx context.Context, verb string, first func() string, f func(ctx context.Context, db sqlstore.DB) error) error {
	err := d.Store.retry(ctx, func(ctx context.Context) error {
		send := func(ctx context.Context, calls ...call) error {
			return d.Store.sendOnce(ctx, d.Store.pool, call{sql: first()}, calls)
		}
		return (&pipeline{send: send, sendAll: send}).do(ctx, f)
	})
	if err != nil {
		return fmt.Errorf("%s: %w", verb, err)
	}
	return nil
}

// ChangeLimits implements sqlstore.LimitChanges.
func (d database) ChangeLimits(ctx context.Context, verb string, f func(ctx context.Context, change sqlstore.LimitChange) error) error {
	err := d.inLimitChange(ctx, func(ctx context.Context, c *limitChange) error { return f(ctx, c) })
	if err != nil {
		return fmt.Errorf("%s: %w", verb, err)
	}
	return nil
}

// NameLane names a lane of jobs that were just read.
func (d database) NameLane(ctx context.Context, _ sqlstore.DB, id int32) (sqlstore.LaneKey, error) {
	return d.laneKey(ctx, id)
}

// inRunner runs a function of a shared feature inside a transaction that is under way.
func inRunner(ctx context.Context, in runner, f func(ctx context.Context, db sqlstore.DB) error) error {
	return (&pipeline{send: in.run, sendAll: in.run}).do(ctx, f)
}

// callerDatabase is a caller's transaction as those features see it.
type callerDatabase struct {
	caller *callerTx
}

// InTx implements sqlstore.Database. What is but one statement needs no savepoint.
func (d callerDatabase) InTx(ctx context.Context, verb string, f func(ctx context.Context, db sqlstore.DB) error) error {
	ctx, cancel := d.caller.store.withTimeout(beside(ctx))
	defer cancel()
	sql := &d.caller.store.sql
	db := &pipeline{
		send:  d.caller.in.run,
		begin: []call{{sql: sql.Savepoint}}, end: []call{{sql: sql.ReleaseSavepoint}},
	}
	db.sendAll = func(ctx context.Context, calls ...call) error {
		if len(calls) == 1 {
			return d.caller.in.run(ctx, calls...)
		}
		return db.finish(ctx, calls)
	}
	err := db.do(ctx, f)
	if err != nil && db.begun {
		err = errors.Join(err, d.caller.in.run(ctx, call{sql: sql.ReturnToSavepoint}))
	}
	if err != nil {
		return fmt.Errorf("%s in a transaction: %w", verb, err)
	}
	d.caller.later = d.caller.later || db.later
	return nil
}

// Read implements sqlstore.Database.
func (d callerDatabase) Read(ctx context.Context, verb string, f func(ctx context.Context, db sqlstore.DB) error) error {
	ctx, cancel := d.caller.store.withTimeout(beside(ctx))
	defer cancel()
	if err := inRunner(ctx, d.caller.in, f); err != nil {
		return fmt.Errorf("%s in a transaction: %w", verb, err)
	}
	return nil
}

// ReadAll implements sqlstore.Database.
func (d callerDatabase) ReadAll(ctx context.Context, verb string, f func(ctx context.Context, db sqlstore.DB) error) error {
	return d.Read(ctx, verb, f)
}

// ownTx is a transaction of the store's own that takes a connection, and begins, with its
// first statement that is waited for.
type ownTx struct {
	store *Store
	conn  *pgxpool.Conn
}

// pipeline makes statements travel in the transaction, which begins with a statement that
// bounds what it waits for.
//
// The server is pinned that is known now: ids that are taken from here on are its own.
func (o *ownTx) pipeline(bound string) *pipeline {
	pin := o.store.pin()
	return &pipeline{
		send: o.run,
		// Statements that are all sent at once are a transaction by themselves.
		sendAll: func(ctx context.Context, calls ...call) error {
			return o.store.sendOnce(ctx, o.store.pool, call{sql: pin}, calls)
		},
		begin: []call{{sql: "begin isolation level read committed"}, {sql: pin + bound}},
		end:   []call{{sql: "commit"}},
	}
}

// run implements runner.
func (o *ownTx) run(ctx context.Context, calls ...call) (err error) {
	if o.conn == nil {
		if o.conn, err = o.store.pool.Acquire(ctx); err != nil {
			return err
		}
	}
	return send(ctx, o.conn, &pgx.Batch{}, calls)
}

// end gives the connection back, after it undid what was not committed.
func (o *ownTx) end(ctx context.Context) {
	if o.conn == nil {
		return
	}
	const idle = 'I'
	if o.conn.Conn().PgConn().TxStatus() != idle {
		_, _ = o.conn.Exec(ctx, "rollback")
	}
	o.conn.Release() // which closes it if the rollback has failed
}
