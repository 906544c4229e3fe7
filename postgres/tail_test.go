package postgres

import (
	"testing"

	"github.com/fairlead-io/fairlead/storetest"
)

func TestNothingCachedOutlivesTheDatabase(t *testing.T) {
	at := migrated.Postgres(t)
	storetest.RunTail(t, behind(t, at, newHarness(t, at, Options{})))
}

// behind is a database whose rows are changed behind the back of its stores.
func behind(t *testing.T, at string, harness *storetest.Harness) *storetest.Behind {
	conn := connect(t, at)
	return &storetest.Behind{
		Harness: harness,
		Exec: func(t testing.TB, sql string) {
			t.Helper()
			if _, err := conn.Exec(t.Context(), sql); err != nil {
				t.Fatal(err)
			}
		},
		Count: func(t testing.TB, sql string) (n int64) {
			t.Helper()
			if err := conn.QueryRow(t.Context(), sql).Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		},
		LimitsVersion:    "select version from fairlead_rules",
		SetLimitsVersion: "update fairlead_rules set version = %d",
	}
}
