package mysql

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

const (
	// migratePatience bounds how long a migration fails to get a table that is in use, and
	// how long a start fails for the sake of others. How long a statement runs that changes
	// a large table, and how long others wait for it, only the context bounds.
	migratePatience = 10 * time.Minute
	// lockPatience is how many seconds one request for the migration lock waits.
	lockPatience = 5
	// definitionPause is how long a statement that changes a table in use pauses before
	// it is tried again. While it waits for the table, all later users of the table
	// wait behind it; the session's lock_wait_timeout bounds that.
	definitionPause = time.Second
)

// bringUp migrates only if something is pending: a user who may not change the schema
// can use one that is current.
func (s *Store) bringUp(ctx context.Context) error {
	var schema driver.Schema
	err := patiently(ctx, &refusals{patience: s.migratePatience}, func() (err error) {
		schema, err = s.Schema(ctx)
		return err
	})
	if err != nil || len(schema.Pending) == 0 {
		return err
	}
	if s.options.NoMigrate {
		return fmt.Errorf("the schema is at version %d of %d: run fairlead migrate up", schema.Current, schema.Latest)
	}
	_, err = s.Migrate(ctx)
	return err
}

// Migrate brings the tables up to date, however long that takes. If several processes call
// it at the same time, one of them migrates and the others wait. Migrate returns an error if
// it cannot lock a table for ten minutes.
func (s *Store) Migrate(ctx context.Context) (schema driver.Schema, err error) {
	refused := &refusals{patience: s.migratePatience}
	err = patiently(ctx, refused, func() error {
		schema, err = s.migrate(ctx, refused)
		return err
	})
	return schema, err
}

// patiently repeats f while the server rolls it back, until it has done so for too long: on
// a busy server, nodes that start together wait for each other's definitions at every
// statement, even those that only read.
func patiently(ctx context.Context, refused *refusals, f func() error) error {
	for {
		err := f()
		if err == nil || !transient(err) || refused.tooLong() {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(definitionPause/2 + rand.N(definitionPause)):
		}
	}
}

// refusals are tries that failed one after the other.
type refusals struct {
	patience time.Duration
	first    time.Time // zero: the last try did not fail
}

// tooLong is called after each failure. It reports whether they have gone on for longer than
// patience.
func (r *refusals) tooLong() bool {
	if r.first.IsZero() {
		r.first = time.Now()
	}
	return time.Since(r.first) > r.patience
}

// end is called after a success.
func (r *refusals) end() { r.first = time.Time{} }

// migrate makes one try. What it has applied stays applied.
func (s *Store) migrate(ctx context.Context, refused *refusals) (driver.Schema, error) {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return driver.Schema{}, fmt.Errorf("migrate: %w", err)
	}
	defer conn.Close()
	m := migrationTarget{Store: s, conn: conn, refused: refused}
	if err := m.lock(ctx); err != nil {
		return driver.Schema{}, fmt.Errorf("migrate: %w", err)
	}
	schema, err := sqlstore.MigrateUp(ctx, m, s.schema)
	if err := firstError(explainDenied(err), m.unlock(ctx)); err != nil {
		return schema, fmt.Errorf("migrate: %w", err)
	}
	return schema, nil
}

// Schema compares the tables with this program's migrations and changes nothing. It returns
// an error if the tables are newer than the program.
func (s *Store) Schema(ctx context.Context) (driver.Schema, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	_, applied, err := s.applied(ctx, s.db)
	if err != nil {
		return driver.Schema{}, fmt.Errorf("read schema: %w", err)
	}
	return sqlstore.Status(applied, s.schema)
}

// Script returns the SQL that Migrate runs on an empty database. As in Migrate, the script
// records each statement after running it, because the server commits every definition
// separately. Migrate can therefore continue an interrupted script.
func (s *Store) Script() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s;\n\n%s;\n\n", s.sql.ScriptSession, s.sql.CreateMigrations)
	for _, migration := range s.schema {
		fmt.Fprintf(&b, "-- %s\n", migration)
		for step, statement := range migration.Steps {
			fmt.Fprintf(&b, "%s;\n\n%s;\n\n", statement, s.printRecord(migration, step))
		}
	}
	return b.String()
}

// printRecord returns the record of a statement with its arguments filled in.
func (s *Store) printRecord(migration sqlstore.Migration, step int) string {
	values := fmt.Sprintf("(%d, %d, '%s',", migration.Version, step+1, migration)
	return strings.Replace(s.sql.RecordMigration, "(?, ?, ?,", values, 1)
}

// applied counts the applied statements per version. Without a record there are none.
func (s *Store) applied(ctx context.Context, q querier) (recorded bool, applied map[int]int, err error) {
	applied = map[int]int{}
	err = each(ctx, q, func(row *sql.Rows) error { return row.Scan(&recorded) },
		s.sql.MigrationsExist, s.database, s.options.Prefix+"migration")
	if err != nil || !recorded {
		return false, applied, err
	}
	err = each(ctx, q, func(row *sql.Rows) error {
		var version, steps int
		if err := row.Scan(&version, &steps); err != nil {
			return err
		}
		applied[version] = steps
		return nil
	}, s.sql.MigrationsApplied)
	return true, applied, err
}

// migrationTarget is a sqlstore.MigrationTarget: one connection that holds the lock.
type migrationTarget struct {
	*Store
	conn    *sql.Conn
	refused *refusals // of statements that change a definition
}

// lockName differs for every database and prefix of a server, and is short enough for
// the server.
func (m migrationTarget) lockName() string {
	sum := sha256.Sum256([]byte(m.database + "\x00" + m.options.Prefix))
	return fmt.Sprintf("fairlead-%x", sum[:16])
}

func (m migrationTarget) lock(ctx context.Context) error {
	wait := sqlstore.NewWait(m.options.Waiting)
	for patience := 1; ; patience = lockPatience { // the first time it is soon known who has it
		var got sql.NullInt64
		if err := m.conn.QueryRowContext(ctx, m.sql.LockMigrations, m.lockName(), patience).Scan(&got); err != nil {
			return fmt.Errorf("wait for another node's migration: %w", err)
		}
		if got.Int64 == 1 {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("wait for another node's migration: %w", err)
		}
		wait.For(func() string { return m.holder(ctx) })
	}
}

// holder says who holds the lock.
func (m migrationTarget) holder(ctx context.Context) string {
	var id sql.NullInt64
	var user, host sql.NullString
	const other = "another process that migrates"
	if err := m.conn.QueryRowContext(ctx, m.sql.MigrationsHolder, m.lockName()).Scan(&id, &user, &host); err != nil || !id.Valid {
		return other
	}
	if !user.Valid {
		return fmt.Sprintf("%s: connection %d", other, id.Int64)
	}
	return fmt.Sprintf("%s: connection %d of user %q from %s", other, id.Int64, user.String, host.String)
}

// unlock gives the lock back, even if the context has ended: the connection returns to
// the pool and would keep the lock.
func (m migrationTarget) unlock(ctx context.Context) error {
	ctx, cancel := m.withTimeout(context.WithoutCancel(ctx))
	defer cancel()
	_, err := m.conn.ExecContext(ctx, m.sql.UnlockMigrations, m.lockName())
	return err
}

// Applied counts the applied statements. It creates the record only if it does not
// exist: creating it needs a right even if it exists.
func (m migrationTarget) Applied(ctx context.Context) (map[int]int, error) {
	recorded, applied, err := m.applied(ctx, m.conn)
	if err == nil && !recorded {
		err = m.define(ctx, m.sql.CreateMigrations)
	}
	return applied, err
}

// Apply runs one statement and records it. The server commits the two separately: after
// a crash in between, the statement runs again.
func (m migrationTarget) Apply(ctx context.Context, migration sqlstore.Migration, step int) error {
	if err := m.define(ctx, migration.Steps[step]); err != nil {
		return err
	}
	_, err := m.conn.ExecContext(ctx, m.sql.RecordMigration, migration.Version, step+1, migration.String())
	return err
}

// The server's errors for a column, and for a key, that is added again. Unlike MariaDB,
// MySQL has no syntax to add it only if it does not exist.
const (
	errColumnExists = 1060
	errKeyExists    = 1061
)

// define changes a definition, and pauses while the table is in use. A column or a key
// that already exists was added by a statement that ran but was not recorded.
func (m migrationTarget) define(ctx context.Context, statement string) error {
	wait := sqlstore.NewWait(m.options.Waiting)
	for {
		_, err := m.conn.ExecContext(ctx, statement)
		var answer *mysql.MySQLError
		switch {
		case err == nil:
			m.refused.end()
			return nil
		case !errors.As(err, &answer):
			return err
		case answer.Number == errColumnExists || answer.Number == errKeyExists:
			return nil
		case answer.Number != errLockWaitTimeout || m.refused.tooLong():
			return err
		}
		wait.For(func() string { return "transactions that use a table which a migration changes (see show processlist)" })
		select {
		case <-ctx.Done():
			return err
		case <-time.After(definitionPause):
		}
	}
}

// The server's errors for a user without a right to a table, and to any table of the
// database.
const (
	errTableDenied    = 1142
	errDatabaseDenied = 1044
)

// explainDenied adds a remedy to a denial, which names the right.
func explainDenied(err error) error {
	var answer *mysql.MySQLError
	if !errors.As(err, &answer) || (answer.Number != errTableDenied && answer.Number != errDatabaseDenied) {
		return err
	}
	return fmt.Errorf("%w: changing the schema requires the privileges CREATE, ALTER, DROP and CREATE VIEW on the database: "+
		"grant them, or run fairlead migrate up as a user who has them", err)
}
