package postgres

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
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
	at := migrated.Postgres(t)
	storetest.UnusedLanes(t, newHarness(t, at, Options{}), lookAtLanes(t, at))
}

// A transaction that has looked at a lane before it was given up may store a job in it
// whenever it likes.
func TestALaneIsNotRemovedWhileATransactionIsOpenThatMayUseIt(t *testing.T) {
	at := migrated.Postgres(t)
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
	pass(2 * sqlstore.LaneRetired)
	if exists, _ := look("unused"); !exists {
		t.Fatal("the lane was removed under the eyes of a transaction")
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	storetest.Eventually(t, "the lane is gone", func() bool { // transactions of others may be older
		pass(2 * sqlstore.LaneRetired)
		exists, _ := look("unused")
		return !exists
	})
}

// walks is a store whose walks through all jobs begin when a test says so.
type walks struct {
	*testing.T
	at    string
	h     *storetest.Harness
	store storetest.Store
	look  storetest.LaneLook
}

func newWalks(t *testing.T) *walks {
	at := migrated.Postgres(t)
	h := newHarness(t, at, Options{})
	w := &walks{T: t, at: at, h: h, store: h.Open(t), look: lookAtLanes(t, at)}
	w.after(0)
	return w
}

// after goes on with the walk when some time has passed.
func (w *walks) after(d time.Duration) {
	w.Helper()
	w.h.Advance(d)
	if err := w.prune(); err != nil {
		w.Fatal(err)
	}
}

func (w *walks) prune() error {
	_, err := w.store.Prune(w.Context(), driver.Retention{}, 100)
	return err
}

// makeLanes makes lanes that hold nothing.
func (w *walks) makeLanes() {
	w.Helper()
	exec(w.T, w.at, "insert into fairlead_lane (queue, tenant, kind) values ('q', 't', 'unused'), ('q', 't', 'last')")
}

func (w *walks) want(exists, givenUp bool) {
	w.Helper()
	if e, g := w.look("unused"); e != exists || g != givenUp {
		w.Fatalf("the lane exists: %v, is given up: %v; want %v, %v", e, g, exists, givenUp)
	}
}

func TestALaneThatIsMadeDuringAWalkIsNotGivenUpAtItsEnd(t *testing.T) {
	w := newWalks(t)
	exec(t, w.at, "update fairlead_lane_walk set ended_at = 0")
	w.makeLanes()
	w.after(time.Minute)
	w.want(true, false)
	w.after(sqlstore.LaneWalkEvery)
	w.after(sqlstore.LaneUnused + time.Hour)
	w.want(true, true)
}

// A walk through very many jobs takes long: the next may begin soon after its end.
func TestALaneStaysGivenUpForADayHoweverSoonTheNextWalkBegins(t *testing.T) {
	w := newWalks(t)
	w.makeLanes()
	w.after(sqlstore.LaneWalkEvery)
	w.after(sqlstore.LaneUnused + time.Hour)
	w.want(true, true)
	for range 2 {
		exec(t, w.at, "update fairlead_lane_walk set begun_at = 0, retired_by = 0") // and no transaction is older
		w.after(sqlstore.LaneRetired / 3)
		w.want(true, true)
	}
	storetest.Eventually(t, "the lane is gone", func() bool { // transactions of others may be older
		w.after(2 * sqlstore.LaneRetired)
		exists, _ := w.look("unused")
		return !exists
	})
}

// A transaction that stores the first jobs of a lane may take long.
func TestAWalkPassesOverANewLaneThatIsLocked(t *testing.T) {
	l := newLimitTest(t)
	exec(t, l.at, "insert into fairlead_lane (queue, tenant, kind) values ('q', 't', 'new'), ('q', 't', 'newer')")
	locking := l.begin("select from fairlead_lane where kind = 'new' for update")
	prune := func() error {
		_, err := l.store.Prune(t.Context(), driver.Retention{}, 100)
		return err
	}
	l.returns(prune)
	l.wantRows("fairlead_lane where seen_at = 0", 1)
	l.ok(locking.Rollback(t.Context()))
}

func TestNothingIsLeftOfAScheduleThatWasDeleted(t *testing.T) {
	at := migrated.Postgres(t)
	storetest.RemovedSchedules(t, newHarness(t, at, Options{}), func() (rows int) {
		if err := connect(t, at).QueryRow(t.Context(), "select count(*) from fairlead_schedule").Scan(&rows); err != nil {
			t.Fatal(err)
		}
		return rows
	})
}
