package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Migrations give up waiting for a table soon, then try again: a transaction that
// queues for a table behind a long one blocks every later transaction, beats included.
const (
	beginMigration    = "begin isolation level read committed; set local lock_timeout = '300ms'"
	migrationRest     = 500 * time.Millisecond
	migrationPatience = 10 * time.Minute // nodes that start while another migrates wait this long
)

// Schema compares the tables with this program's migrations, without changing anything. It
// returns an error if the tables are newer than the program.
func (s *Store) Schema(ctx context.Context) (driver.Schema, error) {
	exist := false
	err := s.runPlain(ctx, call{sql: s.sql.MigrationsExist, each: func(row sqlstore.Scanner) error { return row.Scan(&exist) }})
	applied := map[int]int{}
	if err == nil && exist {
		applied, err = s.applied(ctx, plainRunner{s})
	}
	if err != nil {
		return driver.Schema{}, fmt.Errorf("read applied migrations: %w", err)
	}
	return sqlstore.Status(applied, s.migrations)
}

func (s *Store) applied(ctx context.Context, r runner) (map[int]int, error) {
	applied := map[int]int{}
	err := r.run(ctx, call{sql: s.sql.MigrationsApplied, each: func(row sqlstore.Scanner) error {
		var version, steps int
		if err := row.Scan(&version, &steps); err != nil {
			return err
		}
		applied[version] = steps
		return nil
	}})
	return applied, err
}

// Migrate upgrades the tables to this program's schema. It runs in one transaction, except
// for indexes on tables that may be large. It builds each of these indexes separately,
// without a time limit. Migrate returns an error if it cannot lock a table for ten minutes.
func (s *Store) Migrate(ctx context.Context) (driver.Schema, error) {
	wait := sqlstore.NewWait(s.options.Waiting)
	for begun := time.Now(); ; {
		status, err := s.migrateOnce(ctx)
		passes := transient(err) || errors.Is(err, errBuilding)
		switch {
		case err == nil:
			return status, nil
		case errors.Is(err, errMore):
			begun = time.Now()
			continue
		case passes && time.Since(begun) < migrationPatience:
		case passes && s.buildsIndex(ctx):
			begun = time.Now()
		default:
			return status, fmt.Errorf("migrate: %w", unavailable(ctx, err))
		}
		wait.For(func() string { return s.migrationsHolder(ctx) })
		select {
		case <-ctx.Done():
			return status, fmt.Errorf("migrate: %w", errors.Join(ctx.Err(), err))
		case <-time.After(migrationRest/2 + rand.N(migrationRest)):
		}
	}
}

// migrationsHolder says for whom a migration waits: the session that holds the lock of
// the migrations, or else those that use a table.
func (s *Store) migrationsHolder(ctx context.Context) string {
	holder := "transactions that use a table which a migration changes (see pg_stat_activity)"
	err := s.runPlain(ctx, call{sql: s.sql.MigrationsHolder, args: []any{s.migrationsLock()}, each: func(row sqlstore.Scanner) error {
		var pid int
		var user, application, address string
		if err := row.Scan(&pid, &user, &application, &address); err != nil {
			return err
		}
		holder = fmt.Sprintf("another process that migrates: session %d of user %q, application %q, from %s", pid, user, application, address)
		return nil
	}})
	if err != nil {
		return "another process that migrates, or transactions that use a table which a migration changes"
	}
	return holder
}

// migrationsLock is the key of the lock of the migrations.
func (s *Store) migrationsLock() int64 { return lockKey(s.schema, "", "migrate") }

// migrateOnce is one transaction of Migrate. It returns errMore if it committed and
// another transaction is needed.
func (s *Store) migrateOnce(ctx context.Context) (status driver.Schema, err error) {
	more := false
	err = pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{BeginQuery: beginMigration}, func(tx pgx.Tx) error {
		target := &migrationTarget{Store: s, in: pgxRunner{tx}}
		if err := target.open(ctx); err != nil {
			return err
		}
		status, err = sqlstore.MigrateUp(ctx, target, s.migrations)
		if more = errors.Is(err, errMore); more {
			return nil
		}
		return err
	})
	if err == nil && more {
		err = errMore
	}
	return status, err
}

// Script returns the SQL statements that Migrate runs on an empty database.
func (s *Store) Script() string {
	var b strings.Builder
	if s.options.Schema != "" {
		fmt.Fprintf(&b, "%s;\n\n", s.sql.CreateSchema)
	}
	fmt.Fprintf(&b, "%s;\n\n%s", s.sql.CreateMigrations, sqlstore.PrintMigrations(inOneTransaction(s.migrations)))
	for _, m := range s.migrations {
		for step := range m.Steps {
			record := strings.NewReplacer("$1", fmt.Sprint(m.Version), "$2", fmt.Sprint(step), "$3", "'"+m.Name+"'").Replace(s.sql.RecordMigration)
			fmt.Fprintf(&b, "%s;\n", record)
		}
	}
	return b.String()
}

// migrationTarget is the database inside the transaction that migrates it.
type migrationTarget struct {
	*Store
	in      runner
	empty   bool // the transaction began without tables: building an index blocks no other transaction
	applied int  // statements so far
}

// open takes the migration lock and creates the schema if it does not exist.
func (t *migrationTarget) open(ctx context.Context) error {
	exists := false
	err := t.in.run(ctx,
		call{sql: t.sql.LockMigrations, args: []any{t.migrationsLock()}},
		call{sql: t.sql.SchemaExists, args: []any{t.schema}, each: hits(&exists)})
	if err == nil && !exists {
		err = t.in.run(ctx, call{sql: t.sql.CreateSchema})
	}
	return err
}

// Applied implements sqlstore.MigrationTarget.
func (t *migrationTarget) Applied(ctx context.Context) (map[int]int, error) {
	if err := t.in.run(ctx, call{sql: t.sql.CreateMigrations}); err != nil {
		return nil, err
	}
	applied, err := t.Store.applied(ctx, t.in)
	t.empty = len(applied) == 0
	return applied, err
}

// Apply implements sqlstore.MigrationTarget.
func (t *migrationTarget) Apply(ctx context.Context, m sqlstore.Migration, step int) error {
	record := call{sql: t.sql.RecordMigration, args: []any{m.Version, step, m.Name}}
	name, apart := builtApart(m.Steps[step])
	if !apart || t.empty {
		t.applied++
		return t.in.run(ctx, call{sql: inTransaction(m.Steps[step])}, record)
	}
	if t.applied > 0 {
		return errMore // the build would wait for the locks of this transaction
	}
	err := t.in.run(ctx, call{sql: t.sql.StayIdle})
	if err == nil {
		err = t.buildIndex(ctx, name, m.Steps[step])
	}
	if err == nil {
		err = t.in.run(ctx, record)
	}
	if err != nil {
		return err
	}
	return errMore
}
