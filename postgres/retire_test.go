package postgres

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/storetest"
)

// lookAtLanes looks into the table.
func lookAtLanes(t *testing.T, at string) storetest.LaneLook {
	conn := connect(t, at)
	return func(kind string) (exists, givenUp bool) {
		t.Helper()
		err := conn.QueryRow(t.Context(), "select count(*) > 0, coalesce(bool_or(retired_at <> 0), false) from fairlead_lane where kind = $1", kind).Scan(&exists, &givenUp)
		if err != nil {
			t.Fatal(err)
		}
		return exists, givenUp
	}
}

func TestLanesThatHoldNothingAreGivenUpAndRemoved(t *testing.T) {
	at := testdb.Postgres(t)
	storetest.UnusedLanes(t, newHarness(t, at, Options{}), lookAtLanes(t, at))
}

// A transaction that has looked at a lane before it was given up may store a job in it
// whenever it likes.
func TestALaneIsNotRemovedWhileATransactionIsOpenThatMayUseIt(t *testing.T) {
	at := testdb.Postgres(t)
	h := newHarness(t, at, Options{})
	store, look := h.Open(t), lookAtLanes(t, at)
	pass := func(d time.Duration) {
		t.Helper()
		h.Advance(d)
		if _, err := store.Prune(t.Context(), driver.Retention{}, 100); err != nil {
			t.Fatal(err)
		}
	}
	exec(t, at, "insert into fairlead_lane (queue, tenant, kind) values ('q', 't', 'unused'), ('q', 't', 'last')")
	pass(0)
	tx, err := connect(t, at).BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "select from fairlead_lane"); err != nil { // its snapshot shows the lane as it is
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
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	storetest.Eventually(t, "the lane is gone", func() bool { // transactions of others may be older
		pass(2 * sqlstore.LaneGivenUp)
		exists, _ := look("unused")
		return !exists
	})
}

func TestNothingIsLeftOfAScheduleThatWasDeleted(t *testing.T) {
	at := testdb.Postgres(t)
	storetest.RemovedSchedules(t, newHarness(t, at, Options{}), func() (rows int) {
		if err := connect(t, at).QueryRow(t.Context(), "select count(*) from fairlead_schedule").Scan(&rows); err != nil {
			t.Fatal(err)
		}
		return rows
	})
}
