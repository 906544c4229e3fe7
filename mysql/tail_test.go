package mysql_test

import (
	"context"
	"testing"

	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/mysql"
	"github.com/fairlead-io/fairlead/storetest"
)

func TestTail(t *testing.T) {
	address := testdb.MySQL(t)
	harness := newHarness(t, address, mysql.Options{}, nil)
	harness.Open(t) // makes the tables
	db := rawDB(t, address, map[string]string{"autocommit": "1"})
	mustExec(t, db, "create view fairlead_rules as select value as version from fairlead_counter where name = 'pause'")
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
	})
}
