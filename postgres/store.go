// Package postgres keeps jobs in PostgreSQL, version 13 or newer.
//
// Every move of jobs is one statement. The statements of one call travel together in
// one round trip as one transaction, so no transaction stays open while the process
// does something else. Only a claim under limits reads first and then decides.
//
// The store works through PgBouncer in transaction mode, which Open recognises. It then
// keeps nothing in a session and does not prepare statements, and processes hear of
// each other's jobs only if Options.ListenURL names the server itself. For a pooler
// that keeps prepared statements (PgBouncer since 1.21, with max_prepared_statements),
// the URL may contain default_query_exec_mode=cache_statement, which costs the server
// less. A caller's transaction uses the mode of the caller's connection: through a
// pooler it needs default_query_exec_mode=exec.
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

// Options configures a store. The zero value is useful.
type Options struct {
	// Prefix is the prefix of the names of all tables and sequences; default "fairlead_".
	Prefix string
	// Schema is the schema of the tables, created if it does not exist; default: the first
	// one of the connection's search path.
	Schema string
	// NoMigrate forbids Open to create or change tables. It then fails if they
	// are not current.
	NoMigrate bool
	// SchemaOnly opens the store whatever the version of its tables. Only Migrate, Schema,
	// Script and Close may then be called.
	SchemaOnly bool
	// QueryTimeout bounds every query; default 30s.
	QueryTimeout time.Duration
	// IdleLimit is how long the server lets a transaction of this store sit idle before
	// it ends the transaction, in case the process was stopped in the middle; default
	// 5s. It should be at most half of the nodes' lease.
	IdleLimit time.Duration
	// ListenURL is the URL at which to LISTEN for wakes from other processes, if not the
	// store's own URL: a pooler in transaction mode cannot forward them. "-" disables
	// listening, and so does a pooler at the store's URL if ListenURL is empty; nodes then
	// find the jobs of other processes by polling.
	ListenURL string
	// Waiting is called when Open or Migrate has waited for other connections for longer
	// than a second, with a description of what it waits for, and again if that changes.
	// It may be nil.
	Waiting func(whom string)
	// Now is an SQL expression, in microseconds since 1970, that stands for the
	// database's clock in tests.
	Now string
}

// features are what all stores do alike.
type features = sqlstore.Features

// Store is a fairlead.Store on PostgreSQL.
type Store struct {
	features
	options    Options
	pool       *pgxpool.Pool
	seats      *sqlstore.Seats
	beats      *pgxpool.Pool // own connections: a busy pool must not delay a beat
	sql        statements
	migrations []sqlstore.Migration
	schema     string // resolved name
	pooled     bool   // a pooler is in between: no session belongs to the store
	wrap       bool   // pipelines need an explicit isolation level
	rulesLock  int64  // key of the advisory lock between claims and changes of the rules
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
	book        ruleBook
	merges      mergeState
	laneCursors *laneCursors
	laneHeads   *laneHeads
	pruned      pruneCursor
	rounds      rounds
	heldUp      sqlstore.HeldUp
	reholding   sqlstore.Reholding
	calendars   sqlstore.CalendarRounds
	bodies      sqlstore.ScheduleBodies
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

// Close releases the store's connections.
func (s *Store) Close() error {
	s.closing.Do(func() {
		s.commits.Close()
		s.tokens.Stop()
		s.notifier.hub.Close()
		s.listener.close()
		s.group.flying.Wait()
		s.notifier.close()
		s.beats.Close()
		s.pool.Close()
	})
	return nil
}

// Now returns the database's clock.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	var now int64
	err := s.run(ctx, call{sql: s.sql.Now, each: func(row sqlstore.Scanner) error { return row.Scan(&now) }})
	if err != nil {
		return time.Time{}, fmt.Errorf("read the database's clock: %w", err)
	}
	return sqlstore.Time(now), nil
}
