package sqlite

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	waiting "github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// unmigrated opens a file without tables.
func unmigrated(t *testing.T, file string, options Options) *Store {
	t.Helper()
	options.SchemaOnly = true
	s, err := OpenWith(t.Context(), file, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestAMigrationTakesLongerThanAQueryMay(t *testing.T) {
	s := unmigrated(t, filepath.Join(t.TempDir(), "f.db"), Options{})
	s.options.QueryTimeout = time.Nanosecond // each statement takes longer
	schema, err := s.Migrate(t.Context())
	if err != nil || schema.Current != schema.Latest {
		t.Fatalf("%+v, %v", schema, err)
	}
}

func TestAStoreIsOpenedThoughItsMigrationTakesLongerThanAQueryMay(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f.db")
	holder := unmigrated(t, file, Options{})
	tx, err := holder.main.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	waits, opened := make(chan string, 1), make(chan error, 1)
	const timeout = time.Second
	go func() {
		s, err := OpenWith(t.Context(), file, Options{QueryTimeout: timeout, Waiting: func(whom string) { waits <- whom }})
		if err == nil {
			err = s.Close()
		}
		opened <- err
	}()
	begun := time.Now()
	select {
	case whom := <-waits:
		if whom != "another process that has the file locked" {
			t.Errorf("it waits for %s", whom)
		}
	case err := <-opened:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(waiting.Limit):
		t.Fatal("it does not say for whom it waits")
	}
	select { // the other process holds the lock for longer than a query may take
	case err := <-opened:
		t.Fatalf("it gave up: %v", err)
	case <-time.After(time.Until(begun.Add(3 * timeout))):
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := <-opened; err != nil {
		t.Error(err)
	}
}

func TestAMigrationEndsWithItsContext(t *testing.T) {
	s := unmigrated(t, filepath.Join(t.TempDir(), "f.db"), Options{})
	endless := sqlstore.Migration{Version: len(s.migrations) + 1, Name: "endless", Steps: []string{
		"with recursive n (i) as (select 1 union all select i + 1 from n) insert into " + s.tables("migration") +
			" (version, step, name, applied_at) select i, i, i, i from n where i < 0",
	}}
	s.migrations = append(s.migrations, endless)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := s.Migrate(ctx); !errors.Is(ctx.Err(), context.DeadlineExceeded) || err == nil {
		t.Fatalf("it ended with %v", err)
	}
	schema, err := s.Schema(t.Context())
	if err != nil || schema.Current != 0 {
		t.Errorf("a part of it has stayed: %+v, %v", schema, err)
	}
}
