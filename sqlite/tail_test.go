package sqlite_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/fairlead-io/fairlead/sqlite"
	"github.com/fairlead-io/fairlead/storetest"
)

func TestNothingCachedOutlivesTheDatabase(t *testing.T) {
	clock, file := newClock(), filepath.Join(t.TempDir(), "jobs.db")
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	storetest.RunTail(t, &storetest.Behind{
		Harness: &storetest.Harness{
			Open: func(t testing.TB) storetest.Store {
				return open(t, "sqlite://"+file, sqlite.Options{Clock: clock.Now, Synchronous: "off"})
			},
			Advance: clock.Advance,
			Begin: func(t testing.TB, s storetest.Store) storetest.Transaction {
				store := s.(*sqlite.Store)
				return begin(t, store.DB(), store)
			},
			SerialWrites: true,
		},
		Exec: func(t testing.TB, statement string) {
			t.Helper()
			if _, err := db.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		},
		Count: func(t testing.TB, query string) (n int64) {
			t.Helper()
			if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		},
		LimitsVersion:    "select value from fairlead_counter where name = 'rules'",
		SetLimitsVersion: "update fairlead_counter set value = %d where name = 'rules'",
	})
}
