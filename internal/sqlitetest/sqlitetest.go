// Package sqlitetest creates SQLite stores for tests quickly: creating the tables takes ten
// times as long as copying a file that contains them.
package sqlitetest

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/sqlite"
)

// template returns the content of a file with empty tables.
var template = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "fairlead-sqlitetest-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "template.db")
	store, err := sqlite.OpenWith(context.Background(), file, sqlite.Options{
		Synchronous: "off",
		// before the time of any test, even in virtual time
		Clock: func() time.Time { return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) },
	})
	if err != nil {
		return nil, err
	}
	if err := store.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
})

// File creates a database file with empty tables and returns its path. The file is removed
// when the test ends.
func File(t testing.TB) string {
	t.Helper()
	content, err := template()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "jobs.db")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// URL creates a database file with empty tables and returns its URL.
func URL(t testing.TB) string {
	t.Helper()
	return "sqlite://" + File(t)
}

// Open opens a store in a new file. The store does not flush writes to disk. The caller must
// close it.
func Open(t testing.TB) *sqlite.Store {
	t.Helper()
	return OpenWith(t, sqlite.Options{})
}

// OpenWith works like Open, but takes the store's options.
func OpenWith(t testing.TB, options sqlite.Options) *sqlite.Store {
	t.Helper()
	options.Synchronous = "off"
	store, err := sqlite.OpenWith(t.Context(), File(t), options)
	if err != nil {
		t.Fatal(err)
	}
	return store
}
