package mysql_test

import (
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/mysql"
	"github.com/fairlead-io/fairlead/storetest"
)

// lookAtLanes looks into the table.
func lookAtLanes(t *testing.T, address string) storetest.LaneLook {
	db := rawDB(t, address, map[string]string{"autocommit": "1"})
	return func(kind string) (exists, givenUp bool) {
		t.Helper()
		err := db.QueryRowContext(t.Context(), "select count(*) > 0, coalesce(max(retired_at <> 0), 0) from fairlead_lane where kind = ?", kind).Scan(&exists, &givenUp)
		if err != nil {
			t.Fatal(err)
		}
		return exists, givenUp
	}
}

func TestLanesThatHoldNothingAreGivenUpAndRemoved(t *testing.T) {
	address := testdb.MySQL(t)
	storetest.UnusedLanes(t, newHarness(t, address, mysql.Options{}, nil), lookAtLanes(t, address))
}

// A transaction that has looked at a lane before it was given up may store a job in it
// whenever it likes.
func TestALaneIsNotRemovedWhileATransactionIsOpenThatMayUseIt(t *testing.T) {
	address := testdb.MySQL(t)
	h := newHarness(t, address, mysql.Options{}, nil)
	store, look := h.Open(t), lookAtLanes(t, address)
	pass := func(d time.Duration) {
		t.Helper()
		h.Advance(d)
		if _, err := store.Prune(t.Context(), fairlead.Retention{}, 100); err != nil {
			t.Fatal(err)
		}
	}
	raw := rawDB(t, address, map[string]string{"autocommit": "1"})
	mustExec(t, raw, "insert into fairlead_lane (queue, tenant, kind) values ('q', 't', 'unused'), ('q', 't', 'last')")
	pass(0)
	tx, err := raw.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), "select id from fairlead_lane"); err != nil { // it sees the lane as it is
		t.Fatal(err)
	}
	pass(sqlstore.LaneUnused + time.Hour)
	if _, givenUp := look("unused"); !givenUp {
		t.Fatal("the lane was not given up")
	}
	pass(2 * sqlstore.LaneGivenUp)
	if exists, _ := look("unused"); !exists {
		t.Fatal("the lane was removed under the eyes of a transaction")
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	storetest.Eventually(t, "the lane is gone", func() bool { // transactions of others may be older
		pass(2 * sqlstore.LaneGivenUp)
		exists, _ := look("unused")
		return !exists
	})
}
