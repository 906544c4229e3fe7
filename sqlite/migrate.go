package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Migrate applies either all missing migrations or none. With a large file, it takes much
// longer than the query timeout. Only ctx limits its duration, including the time that it
// waits for another process to migrate.
func (s *Store) Migrate(ctx context.Context) (driver.Schema, error) {
	var schema driver.Schema
	err := s.awaitFile(ctx, func() error {
		tx, err := s.main.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }() // does nothing after the commit
		target := &migrationTarget{tx: tx, store: s}
		if schema, err = sqlstore.MigrateUp(ctx, target, s.migrations); err != nil {
			return err
		}
		return tx.Commit()
	})
	if err != nil {
		return schema, fmt.Errorf("migrate: %w", err)
	}
	return schema, nil
}

// Schema compares the tables with this program's migrations. It changes nothing. It returns an
// error if the tables are newer than the program.
func (s *Store) Schema(ctx context.Context) (driver.Schema, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	applied, err := s.applied(ctx, s.main)
	if err != nil {
		return driver.Schema{}, fmt.Errorf("read applied migrations: %w", err)
	}
	return sqlstore.Status(applied, s.migrations)
}

// Script returns all migrations as SQL. Run it in one transaction.
func (s *Store) Script() string {
	var records strings.Builder
	for _, m := range s.migrations {
		for step := range m.Steps {
			fmt.Fprintf(&records, "insert into %s (version, step, name, applied_at) values (%d, %d, '%s', unixepoch() * 1000000);\n",
				s.tables("migration"), m.Version, step, m.Name)
		}
	}
	return s.migrationTable() + ";\n\n" + sqlstore.PrintMigrations(s.migrations) + records.String()
}

// bringUp migrates, or fails if a migration is pending and NoMigrate is set.
func (s *Store) bringUp(ctx context.Context) error {
	schema, err := s.Schema(ctx)
	if err != nil || len(schema.Pending) == 0 {
		return err
	}
	if s.options.NoMigrate {
		return fmt.Errorf("the database lacks %s: run fairlead migrate up", strings.Join(schema.Pending, ", "))
	}
	_, err = s.Migrate(ctx)
	return err
}

func (s *Store) migrationTable() string {
	return "create table if not exists " + s.tables("migration") + ` (
  version    integer not null,
  step       integer not null,
  name       text    not null,
  applied_at integer not null,
  primary key (version, step)
) without rowid`
}

// applied counts the statements applied per version.
func (s *Store) applied(ctx context.Context, run runner) (map[int]int, error) {
	t := s.newTxn(ctx, run)
	var name string
	exists, err := t.one("select name from sqlite_master where type = 'table' and name = ?", []any{s.options.Prefix + "migration"}, &name)
	if err != nil || !exists {
		return nil, err
	}
	applied := map[int]int{}
	err = t.each("select version, count(*) from "+s.tables("migration")+" group by version", nil, func(row sqlstore.Scanner) error {
		var version, steps int
		if err := row.Scan(&version, &steps); err != nil {
			return err
		}
		applied[version] = steps
		return nil
	})
	return applied, err
}

// migrationTarget migrates inside one transaction, which holds the write lock
// of the file.
type migrationTarget struct {
	tx    *sql.Tx
	store *Store
}

// Applied is part of sqlstore.MigrationTarget.
func (m *migrationTarget) Applied(ctx context.Context) (map[int]int, error) {
	if _, err := m.tx.ExecContext(ctx, m.store.migrationTable()); err != nil {
		return nil, err
	}
	return m.store.applied(ctx, m.tx)
}

// Apply is part of sqlstore.MigrationTarget.
func (m *migrationTarget) Apply(ctx context.Context, migration sqlstore.Migration, step int) error {
	if _, err := m.tx.ExecContext(ctx, migration.Steps[step]); err != nil {
		return err
	}
	record := "insert into " + m.store.tables("migration") + " (version, step, name, applied_at) values (?, ?, ?, ?)"
	_, err := m.tx.ExecContext(ctx, record, migration.Version, step, migration.Name, m.store.micros())
	return err
}
