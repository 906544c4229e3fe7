package mysql_test

import (
	"context"
	"testing"

	"github.com/fairlead-io/fairlead/mysql"
	"github.com/fairlead-io/fairlead/storetest"
)

func TestNothingCachedOutlivesTheDatabase(t *testing.T) {
	address := mysql.Migrated.MySQL(t)
	harness := newHarness(t, address, mysql.Options{}, nil)
	db := rawDB(t, address, map[string]string{"autocommit": "1"})
	storetest.RunTail(t, &storetest.Behind{
		Harness: harness,
		Exec: func(t testing.TB, sql string) {
			t.Helper()
			mustExec(t, db, sql)
		},
		Count: func(t testing.TB, sql string) (n int64) {
			t.Helper()
			if err := db.QueryRowContext(context.Background(), sql).Scan(&n); err != nil {
				t.Fatalf("%s: %v", sql, err)
			}
			return n
		},
		LimitsVersion:    "select value from fairlead_counter where name = 'pause'",
		SetLimitsVersion: "update fairlead_counter set value = %d where name = 'pause'",
	})
}
