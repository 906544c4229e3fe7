// Package postgres stores jobs in PostgreSQL, version 13 or newer.
//
//	store, err := postgres.Open(ctx, "postgres://user:password@host/database")
//
// Every move of jobs is one statement. The statements of one call travel together in
// one round trip as one transaction, so no transaction stays open while the process
// does other work. Only a claim under limits reads before it decides.
//
// The store works through PgBouncer in transaction mode, which Open detects. The store
// then keeps no state in a session and prepares no statements, and a process is notified
// of other processes' jobs only if Options.ListenURL names the server itself. For a
// pooler that keeps prepared statements (PgBouncer since 1.21, with
// max_prepared_statements), the URL may contain default_query_exec_mode=cache_statement,
// which reduces the load on the server. A caller's transaction uses the mode of the
// caller's connection: through a pooler it needs default_query_exec_mode=exec.
package postgres

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/schedule"
)

// Options configures a store. The zero value is valid.
type Options struct {
	// Prefix is the prefix of the names of all tables and sequences; default "fairlead_".
	Prefix string
	// Schema is the schema of the tables, created if it does not exist; default the first
	// schema of the connection's search path.
	Schema string
	// NoMigrate prevents Open from creating or changing tables. Open then returns an error
	// if they are not current.
	NoMigrate bool
	// SchemaOnly opens the store with tables of any version. Only Migrate, Schema, Script
	// and Close may then be called.
	SchemaOnly bool
	// QueryTimeout is the timeout of each query; default 30s.
	QueryTimeout time.Duration
	// IdleLimit is the time after which the server ends an idle transaction of this store,
	// in case the process was suspended in the middle of it; default 5s. It should be at
	// most half of the nodes' lease.
	IdleLimit time.Duration
	// ListenURL is the URL at which to LISTEN for notifications from other processes;
	// default the store's own URL. Set it if that is the URL of a pooler in transaction
	// mode, which cannot forward notifications: nodes then learn of the jobs of other
	// processes only by polling. "-" disables listening.
	ListenURL string
	// Waiting is called when Open or Migrate has waited for other connections for longer
	// than a second, with a description of the holder of the lock, and again if the holder
	// changes. It may be nil.
	Waiting func(whom string)
	// Now is an SQL expression, in microseconds since 1970, that replaces the database's
	// clock in tests.
	Now string
}

// features are what all stores do alike.
type features = sqlstore.Features

// Store is a driver.Store on PostgreSQL. It also implements access.Store,
// driver.Migrator and driver.Restorer.
type Store struct {
	features
	options    Options
	pool       *pgxpool.Pool
	beside     *pgxpool.Pool // own connections, if the pool belongs to the program; otherwise nil
	seats      *sqlstore.Seats
	beats      *pgxpool.Pool // own connections: a busy pool must not delay a beat
	sql        statements
	migrations []sqlstore.Migration
	schema     string // resolved name
	pooled     bool   // a pooler is in between: no session belongs to the store
	wrap       bool   // pipelines need an explicit isolation level
	limitsLock int64  // key of the advisory lock between claims and changes of the limits
	laneLock   int32  // first key of the advisory locks of lanes

	server      atomic.Pointer[knownServer]
	recognising sqlstore.Lock
	nodes       sqlstore.NodeTokens
	fair        *sqlstore.Fair
	commits     *sqlstore.Commits
	lastFence   atomic.Int64 // the largest one that this process has received

	query       *sqlstore.Query
	lanes       knownLanes
	ids         *sqlstore.IDs
	pending     *sqlstore.Pending
	group       enqueueGroup
	limitCache  limitCache
	merges      mergeState
	laneCursors *laneCursors
	laneHeads   *laneHeads
	pruned      pruneCursor
	rounds      rounds
	reholding   sqlstore.Reholding
	tasks       sqlstore.TaskCache
	notifier    *notifier
	listener    *listener
	limitedTake atomic.Int64    // roughly how many jobs a claim under limits takes
	tokens      *sqlstore.Alarm // wakes nodes when a rate allows another job to start
	closing     sync.Once
}

var (
	_ driver.Store    = (*Store)(nil)
	_ schedule.Store  = (*Store)(nil)
	_ driver.Migrator = (*Store)(nil)
	_ driver.Restorer = (*Store)(nil)
)

// Close releases the store's connections. A pool that New was given stays open.
func (s *Store) Close() error {
	s.closing.Do(func() {
		s.commits.Close()
		s.tokens.Stop()
		s.notifier.hub.Close()
		s.listener.close()
		s.group.flying.Wait()
		s.notifier.close()
		s.disconnect()
	})
	return nil
}

// disconnect closes the store's own connections.
func (s *Store) disconnect() {
	s.beats.Close()
	if s.beside != nil {
		s.beside.Close()
		return
	}
	s.pool.Close()
}

// Now returns the current time by the database's clock.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	var now int64
	err := s.run(ctx, call{sql: s.sql.Now, each: func(row sqlstore.Scanner) error { return row.Scan(&now) }})
	if err != nil {
		return time.Time{}, fmt.Errorf("read the database's clock: %w", err)
	}
	return sqlstore.Time(now), nil
}
