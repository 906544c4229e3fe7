package mysql_test

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/internal/tier"
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
	address := mysql.Migrated.MySQL(t)
	storetest.UnusedLanes(t, newHarness(t, address, mysql.Options{}, nil), lookAtLanes(t, address))
}

// walks is a store whose walks through all lanes begin when a test says so.
type walks struct {
	*testing.T
	h     *storetest.Harness
	store storetest.Store
	raw   *sql.DB
	look  storetest.LaneLook
}

func newWalks(t *testing.T, address string) *walks {
	h := newHarness(t, address, mysql.Options{}, nil)
	w := &walks{T: t, h: h, store: h.Open(t), raw: rawDB(t, address, map[string]string{"autocommit": "1"}), look: lookAtLanes(t, address)}
	mustExec(t, w.raw, "insert into fairlead_lane (queue, tenant, kind) values ('q', 't', 'unused'), ('q', 't', 'last')")
	w.after(0)
	return w
}

// after walks when some time has passed for the lanes.
func (w *walks) after(d time.Duration) {
	w.Helper()
	w.h.Advance(d)
	if _, err := w.store.Prune(w.Context(), driver.Retention{}, 100); err != nil {
		w.Fatal(err)
	}
}

// stays demands that the lane was given up, and stays however many walks follow.
func (w *walks) stays(why string) {
	w.Helper()
	if !w.stayed() {
		exists, givenUp := w.look("unused")
		w.Fatalf("the lane exists: %t, given up: %t; want both: %s", exists, givenUp, why)
	}
}

// stayed reports whether the lane was given up, and stays however many walks follow.
func (w *walks) stayed() bool {
	w.Helper()
	for range 4 {
		if exists, givenUp := w.look("unused"); !exists || !givenUp {
			return false
		}
		w.after(2 * sqlstore.LaneRetired)
		mustExec(w.T, w.raw, "do sleep(0.6)") // transactions are told apart by the second
	}
	return true
}

func (w *walks) goes() {
	w.Helper()
	storetest.Eventually(w.T, "the lane is gone", func() bool { // transactions of others may be older
		w.after(2 * sqlstore.LaneRetired)
		exists, _ := w.look("unused")
		return !exists
	})
}

// A transaction that has looked at a lane before it was given up may store a job in it
// whenever it likes.
func TestALaneIsNotRemovedWhileATransactionIsOpenThatMayUseIt(t *testing.T) {
	w := newWalks(t, mysql.Migrated.MySQL(t))
	tx, err := w.raw.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), "select id from fairlead_lane"); err != nil { // it sees the lane as it is
		t.Fatal(err)
	}
	w.after(sqlstore.LaneUnused + time.Hour)
	w.stays("a transaction has seen it")
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	w.goes()
}

// The server answers questions about transactions from memory while it is asked often.
// Such an answer may lack transactions that are open.
func TestALaneIsNotRemovedWhileTheServerTellsOfOldTransactionsOnly(t *testing.T) {
	tier.Long(t, "races the clock of the server")
	const memory = 100 * time.Millisecond // after which the server looks anew
	for try := 1; ; try++ {
		address := mysql.Migrated.MySQL(t)
		w := newWalks(t, address)
		stop := askOften(t, address)
		w.after(sqlstore.LaneUnused + time.Hour)
		stayed := w.stayed()
		switch pause := stop(); {
		case stayed:
			w.goes()
			return
		case pause < memory/2 || try == 20: // the server may have seen longer pauses than those that are measured here
			t.Fatalf("the lane was removed though the list of transactions is old: it was asked for every %v at most", pause)
		}
	}
}

// askOften asks for the server's transactions all the time. stop tells the longest pause
// between two questions: a busy machine may not let it ask.
func askOften(t *testing.T, address string) (stop func() time.Duration) {
	ctx, cancel := context.WithCancel(t.Context())
	db := rawDB(t, address, map[string]string{"autocommit": "1"})
	asked, ended := make(chan struct{}), make(chan struct{})
	var pause time.Duration
	go func() {
		defer close(ended)
		last := time.Now()
		for n := 0; ctx.Err() == nil; n++ {
			if _, err := db.ExecContext(ctx, "select count(*) from information_schema.innodb_trx"); err != nil && ctx.Err() == nil {
				t.Error(err)
				return
			}
			if n == 1 {
				close(asked)
			}
			if n > 1 {
				pause = max(pause, time.Since(last))
			}
			last = time.Now()
		}
	}()
	select {
	case <-asked:
	case <-ended:
	}
	stop = func() time.Duration {
		cancel()
		<-ended
		return pause
	}
	t.Cleanup(func() { stop() })
	return stop
}

func TestNothingIsLeftOfAScheduleThatWasDeleted(t *testing.T) {
	address := mysql.Migrated.MySQL(t)
	db := rawDB(t, address, map[string]string{"autocommit": "1"})
	storetest.RemovedSchedules(t, newHarness(t, address, mysql.Options{}, nil), func() (rows int) {
		if err := db.QueryRowContext(t.Context(), "select count(*) from fairlead_schedule").Scan(&rows); err != nil {
			t.Fatal(err)
		}
		return rows
	})
}
