package mysql_test

import (
	"context"
	"testing"

	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/mysql"
	"github.com/fairlead-io/fairlead/storetest"
)

func TestALateClaimIsNoCrash(t *testing.T) {
	address := testdb.MySQL(t)
	db := rawDB(t, address, nil)
	storetest.LateClaims(t, newHarness(t, address, mysql.Options{}, nil), func(t *testing.T, job int64) (release func()) {
		tx, err := db.BeginTx(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = tx.Rollback() })
		// The claim waits until it knows whether the job is leased to another node.
		_, err = tx.ExecContext(context.Background(),
			"insert into fairlead_running (id, fence, node, lane, attempt, failures, crashes, started_at) values (?, 0, 0, 0, 0, 0, 0, 0)", job)
		if err != nil {
			t.Fatal(err)
		}
		return func() {
			if err := tx.Rollback(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
