// Package sqlite stores jobs in an SQLite file, or in memory. It needs no server and no
// C compiler.
//
//	store, err := sqlite.Open(ctx, "jobs.db")
//
// All writes of a store go through one goroutine, which commits all waiting writes
// together, so that many callers share one disk flush. Reads run concurrently, each from
// its own snapshot. By default every commit is flushed to disk before it is
// acknowledged.
//
// Several processes on one host may use one file, on a local disk. They take turns, and
// learn of each other's new jobs within milliseconds under load, and within Options.Poll
// otherwise. The clock is the host's. A process that is suspended in the middle of a
// commit, or that leaves its own transaction open, blocks all other processes: choose
// leases that are long enough for that.
package sqlite

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/reads"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Options configures a store. The zero value has useful defaults.
type Options struct {
	// Prefix is the prefix of the names of all tables: letters, digits and underscores;
	// default "fairlead_".
	Prefix string
	// NoMigrate prevents Open from creating or changing tables. Open then returns an error
	// if they are not current.
	NoMigrate bool
	// SchemaOnly opens the store with tables of any version. Only Migrate, Schema, Script
	// and Close may then be called.
	SchemaOnly bool
	// QueryTimeout is the timeout of each call, unless its context ends earlier; default
	// 30s.
	QueryTimeout time.Duration
	// Synchronous selects the durability of commits: "full" (the default) loses none; with
	// "normal" a power failure may lose the latest commits, and with "off" it may corrupt
	// the file. A killed process loses no commits in any of these modes.
	Synchronous string
	// Poll is the maximum interval between checks for changes by other processes, while
	// this process has listeners; default 150ms. While the file changes, the interval is
	// 2ms. If Poll is negative, there are no checks; use this for a file that only this
	// process uses.
	Poll time.Duration
	// Waiting is called when Open or Migrate has waited for other connections for longer
	// than a second, with a description of the holder of the lock, and again if the holder
	// changes. It may be nil.
	Waiting func(whom string)
	// Clock returns the time of the database's clock; default time.Now.
	Clock func() time.Time
	// Connector returns the connector of a data source name; default NewConnector of
	// modernc.org/sqlite. It may wrap that connector, for example to record statements.
	Connector func(name string) (sqldriver.Connector, error)
}

const (
	defaultPrefix       = "fairlead_"
	defaultQueryTimeout = 30 * time.Second
	defaultPoll         = 150 * time.Millisecond
)

// features are what all stores do alike.
type features = sqlstore.Features

// Store is a driver.Store that uses an SQLite database. It also implements access.Store,
// driver.Migrator and driver.Restorer.
type Store struct {
	features
	options    Options
	sql        statements
	inserts    []string // insert_jobs for each of insertSizes
	migrations []sqlstore.Migration
	tables     sqlstore.Expander
	query      *sqlstore.Query
	lanes      *knownLanes
	capped     atomic.Bool // whether there are limits, as far as is known
	nodes      sqlstore.NodeTokens
	fair       *sqlstore.Fair
	hub        *sqlstore.Hub
	tokens     *sqlstore.Alarm // wakes nodes when a rate allows another job to start
	main       *sql.DB         // one connection, for writes
	readers    *sql.DB         // for reads; nil if there is only the one connection
	reads      *preparedReads
	callers    *sql.DB // for transactions of callers
	writer     *writer
	acting     acting // calls of Act
	listener   *listener
	close      func() error
}

var (
	_ driver.Store    = (*Store)(nil)
	_ driver.Migrator = (*Store)(nil)
)

// Close stops the store's goroutines and closes its connections. Calls that are still waiting
// return an error.
func (s *Store) Close() error { return s.close() }

func (s *Store) closeAll() error {
	s.listener.stop()
	s.writer.stop()
	s.tokens.Stop()
	if err := s.disconnect(); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	return nil
}

func (s *Store) disconnect() error {
	var errs []error
	// The writer's connection is closed last, because that folds the log into the file.
	for _, db := range []*sql.DB{s.readers, s.callers, s.main} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}

// DB returns the store's database. Callers can use it for their own tables in the same file,
// and for transactions to pass to Tx. Its transactions take the write lock as soon as they
// begin. While one of them is open, all writes of the store wait. DB is the only way to access
// a database in memory.
func (s *Store) DB() *sql.DB { return s.callers }

// withTimeout bounds a call in time.
func (s *Store) withTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	return sqlstore.WithTimeout(ctx, s.options.QueryTimeout)
}

func (s *Store) micros() int64 { return sqlstore.Micros(s.options.Clock()) }

// Now returns the current time of the database's clock.
func (s *Store) Now(context.Context) (time.Time, error) {
	return sqlstore.Time(s.micros()), nil
}

// inTx runs a function in a transaction of the writer, together with those of other
// callers. The function may run more than once and must not touch what belongs to the
// caller, which may have returned by then. If it returns one of the errors that callers
// distinguish, it should not have written anything.
func inTx[T any](ctx context.Context, s *Store, what string, f func(t *txn) (T, error)) (T, error) {
	return submit(ctx, s, what, &request{}, f)
}

// inTxFirst is inTx ahead of all other requests: a beat must not be late because other
// callers are busy.
func inTxFirst[T any](ctx context.Context, s *Store, what string, f func(t *txn) (T, error)) (T, error) {
	return submit(ctx, s, what, &request{urgent: true}, f)
}

func submit[T any](ctx context.Context, s *Store, what string, r *request, f func(t *txn) (T, error)) (T, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	var result, none T
	r.run = func(t *txn) (err error) {
		result, err = withGates(t, f)
		return err
	}
	if err := s.writer.do(ctx, r); err != nil {
		return none, fmt.Errorf("%s: %w", what, unavailable(ctx, err))
	}
	return result, nil
}

// read runs a function that only reads. Each of its statements sees its own snapshot,
// so facts that belong together must be read by one statement.
func read[T any](ctx context.Context, s *Store, what string, f func(t *txn) (T, error)) (T, error) {
	if s.readers == nil {
		return inTx(ctx, s, what, f)
	}
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	var none T
	t := s.newTxn(ctx, s.reads)
	t.readOnly = true
	if meter := reads.From(ctx); meter != nil {
		unmeasured := f
		f = func(t *txn) (T, error) { return measured(ctx, s, meter, t, unmeasured) }
	}
	result, err := f(t)
	if err != nil {
		return none, fmt.Errorf("%s: %w", what, unavailable(ctx, err))
	}
	return result, nil
}
