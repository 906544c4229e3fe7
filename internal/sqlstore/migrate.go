package sqlstore

import (
	"context"
	"fmt"
	"strings"

	"github.com/fairlead-io/fairlead/driver"
)

// MigrationTarget is a database whose migration lock is held. When many nodes start at the
// same time, one of them migrates the database, and the others find the migrations already
// applied.
type MigrationTarget interface {
	// Applied returns the number of applied statements per version from the migration
	// table, which it creates if necessary.
	Applied(ctx context.Context) (map[int]int, error)
	// Apply runs one statement and records it. Where the statement and its record cannot be
	// rolled back together, running the statement twice must be harmless: MySQL commits
	// every DDL statement separately.
	Apply(ctx context.Context, migration Migration, step int) error
}

// Status returns the pending migrations. It fails if the database schema is newer than this
// program.
func Status(applied map[int]int, migrations []Migration) (driver.Schema, error) {
	status := driver.Schema{Latest: len(migrations)}
	newest := 0
	for version := range applied {
		newest = max(newest, version)
	}
	if newest > len(migrations) {
		return status, fmt.Errorf("the database has schema version %d, but this program supports only versions up to %d: "+
			"use a newer version of fairlead, or another database", newest, len(migrations))
	}
	for _, m := range migrations {
		if applied[m.Version] < len(m.Steps) {
			status.Pending = append(status.Pending, m.String())
		} else if len(status.Pending) == 0 {
			status.Current = m.Version
		}
	}
	return status, nil
}

// MigrateUp applies all pending migrations. If an earlier attempt was interrupted, MigrateUp
// resumes at the statement where that attempt stopped.
func MigrateUp(ctx context.Context, target MigrationTarget, migrations []Migration) (driver.Schema, error) {
	applied, err := target.Applied(ctx)
	if err != nil {
		return driver.Schema{}, fmt.Errorf("read applied migrations: %w", err)
	}
	status, err := Status(applied, migrations)
	if err != nil {
		return status, err
	}
	for _, m := range migrations {
		for step := applied[m.Version]; step < len(m.Steps); step++ {
			if err := target.Apply(ctx, m, step); err != nil {
				return status, fmt.Errorf("migration %s, statement %d: %w", m, step+1, err)
			}
		}
	}
	status.Current, status.Pending = status.Latest, nil
	return status, nil
}

// PrintMigrations returns all migrations as one script, for operators who apply migrations
// with other tools.
func PrintMigrations(migrations []Migration) string {
	var b strings.Builder
	for _, m := range migrations {
		fmt.Fprintf(&b, "-- %s\n", m)
		for _, step := range m.Steps {
			fmt.Fprintf(&b, "%s;\n\n", step)
		}
	}
	return b.String()
}
