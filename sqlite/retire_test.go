package sqlite_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/sqlite"
	"github.com/fairlead-io/fairlead/storetest"
)

// lookAtLanes looks into the table.
func lookAtLanes(t *testing.T, store *sqlite.Store) storetest.LaneLook {
	return func(kind string) (exists, givenUp bool) {
		t.Helper()
		err := store.DB().QueryRowContext(t.Context(), "select count(*) > 0, coalesce(max(retired_at <> 0), 0) from fairlead_lane where kind = ?", kind).Scan(&exists, &givenUp)
		if err != nil {
			t.Fatal(err)
		}
		return exists, givenUp
	}
}

// laneHarness is a file and another store that looks into it.
func laneHarness(t *testing.T) (*storetest.Harness, storetest.LaneLook) {
	t.Helper()
	clock, file := newClock(), filepath.Join(t.TempDir(), "jobs.db")
	options := sqlite.Options{Clock: clock.Now, Synchronous: "off"}
	return &storetest.Harness{
		Open:    func(t testing.TB) storetest.Store { return open(t, "sqlite://"+file, options) },
		Advance: clock.Advance,
	}, lookAtLanes(t, open(t, "sqlite://"+file, options))
}

func TestLanesThatHoldNothingAreGivenUpAndRemoved(t *testing.T) {
	h, look := laneHarness(t)
	storetest.UnusedLanes(t, h, look)
}

// A process may have cached a lane that another gives up or removes.
func TestNoJobIsStoredInALaneThatAnotherProcessHasRemoved(t *testing.T) {
	for name, test := range map[string]struct {
		after time.Duration // after it was given up
		gone  bool
	}{"given up": {0, false}, "removed": {2 * sqlstore.LaneRetired, true}} {
		t.Run(name, func(t *testing.T) {
			h, look := laneHarness(t)
			here, there := h.Open(t), h.Open(t)
			enqueue := func(store storetest.Store, kind string) *fairlead.Job {
				t.Helper()
				job := &fairlead.Job{Kind: kind}
				if err := fairlead.NewClient(store).Enqueue(t.Context(), job); err != nil {
					t.Fatal(err)
				}
				return job
			}
			pass := func(d time.Duration) {
				t.Helper()
				h.Advance(d)
				if _, err := there.Prune(t.Context(), driver.Retention{}, 100); err != nil {
					t.Fatal(err)
				}
			}
			for _, kind := range []string{"unused", "last"} {
				if err := here.Operate(t.Context(), enqueue(here, kind).ID, fairlead.Operation{Op: fairlead.OpDelete}); err != nil {
					t.Fatal(err)
				}
			}
			pass(0)
			pass(sqlstore.LaneUnused + time.Hour)
			if test.after > 0 {
				pass(test.after)
			}
			if exists, givenUp := look("unused"); exists == test.gone || givenUp == test.gone {
				t.Fatalf("the lane exists: %v, is given up: %v", exists, givenUp)
			}
			job := enqueue(here, "unused")
			if exists, givenUp := look("unused"); !exists || givenUp {
				t.Fatalf("after a job was stored the lane exists: %v, is given up: %v", exists, givenUp)
			}
			if got, err := there.Get(t.Context(), job.ID); err != nil || got.Kind != "unused" {
				t.Errorf("the job is %+v, %v", got, err)
			}
		})
	}
}

// walks is a store whose walks through all jobs begin when a test says so.
type walks struct {
	*testing.T
	h     *storetest.Harness
	store *sqlite.Store
	look  storetest.LaneLook
}

func newWalks(t *testing.T) *walks {
	h, look := laneHarness(t)
	w := &walks{T: t, h: h, store: h.Open(t).(*sqlite.Store), look: look}
	w.after(0)
	return w
}

// after goes on with the walk when some time has passed.
func (w *walks) after(d time.Duration) {
	w.Helper()
	w.h.Advance(d)
	if _, err := w.store.Prune(w.Context(), driver.Retention{}, 100); err != nil {
		w.Fatal(err)
	}
}

func (w *walks) exec(statement string) {
	w.Helper()
	if _, err := w.store.DB().ExecContext(w.Context(), statement); err != nil {
		w.Fatal(err)
	}
}

// makeLanes makes lanes that hold nothing.
func (w *walks) makeLanes() {
	w.Helper()
	w.exec("insert into fairlead_lane (queue, tenant, kind) values ('q', 't', 'unused'), ('q', 't', 'last')")
}

func (w *walks) want(exists, givenUp bool) {
	w.Helper()
	if e, g := w.look("unused"); e != exists || g != givenUp {
		w.Fatalf("the lane exists: %v, is given up: %v; want %v, %v", e, g, exists, givenUp)
	}
}

func TestALaneThatIsMadeDuringAWalkIsNotGivenUpAtItsEnd(t *testing.T) {
	w := newWalks(t)
	w.exec("update fairlead_lane_walk set ended_at = 0")
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
		w.exec("update fairlead_lane_walk set begun_at = 0")
		w.after(sqlstore.LaneRetired / 3)
		w.want(true, true)
	}
	w.after(sqlstore.LaneRetired)
	w.want(false, false)
}

func TestAWalkLooksAtAWindowOfJobsPerCallAndGetsThroughAll(t *testing.T) {
	const jobs = 2*sqlstore.LaneWalkWindow + 1
	w := newWalks(t)
	w.makeLanes()
	w.after(sqlstore.LaneWalkEvery)
	w.exec(fmt.Sprintf(`with recursive n (id) as (select 1 union all select id + 1 from n where id < %d)
		insert into fairlead_job (id, lane, turn, start_by, not_before, created_at, flags)
		select id, (select id from fairlead_lane where kind = case n.id when %[1]d then 'unused' else 'last' end), 0, 0, 0, 0, 0 from n`, jobs))
	for call, want := range []bool{false, false, true} {
		w.after([]time.Duration{sqlstore.LaneUnused + time.Hour, time.Minute, time.Minute}[call])
		var ended bool
		if err := w.store.DB().QueryRowContext(t.Context(), "select ended_at <> 0 from fairlead_lane_walk").Scan(&ended); err != nil {
			t.Fatal(err)
		}
		if ended != want {
			t.Fatalf("after call %d the walk has ended: %v", call+1, ended)
		}
	}
	w.want(true, false)
}

func TestTheIDOfALaneThatWasRemovedIsNotGivenToAnother(t *testing.T) {
	w := newWalks(t)
	id := func(what string) (n int64) {
		t.Helper()
		if err := w.store.DB().QueryRowContext(t.Context(), what).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	w.makeLanes()
	last := id("select max(id) from fairlead_lane")
	w.after(sqlstore.LaneWalkEvery)
	w.after(sqlstore.LaneUnused + time.Hour)
	w.after(2 * sqlstore.LaneRetired)
	w.want(false, false)
	w.exec("insert into fairlead_lane (queue, tenant, kind) values ('q', 't', 'new')")
	if got := id("select id from fairlead_lane where kind = 'new'"); got <= last {
		t.Errorf("the lane has the id %d, the last before had %d", got, last)
	}
}

func TestNothingIsLeftOfAScheduleThatWasDeleted(t *testing.T) {
	h, _ := laneHarness(t)
	store := h.Open(t).(*sqlite.Store)
	storetest.RemovedSchedules(t, h, func() (rows int) {
		if err := store.DB().QueryRowContext(t.Context(), "select count(*) from fairlead_schedule").Scan(&rows); err != nil {
			t.Fatal(err)
		}
		return rows
	})
}

func TestNothingIsLeftOfALimitThatWasRemoved(t *testing.T) {
	h, _ := laneHarness(t)
	store := h.Open(t).(*sqlite.Store)
	storetest.RemovedLimits(t, h, func() (rows int) {
		if err := store.DB().QueryRowContext(t.Context(), "select count(*) from fairlead_quota").Scan(&rows); err != nil {
			t.Fatal(err)
		}
		return rows
	})
}

// Of two lanes that were given up and differ in their queue, the one that gets a job is
// taken into use again.
func TestALaneThatIsUsedAgainTakesNoOtherAlong(t *testing.T) {
	w := newWalks(t)
	enqueue := func(queue string) *fairlead.Job {
		t.Helper()
		job := &fairlead.Job{Kind: "unused", Queue: queue}
		if err := fairlead.NewClient(w.store).Enqueue(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		return job
	}
	for _, queue := range []string{"one", "two"} {
		if err := w.store.Delete(t.Context(), enqueue(queue).ID); err != nil {
			t.Fatal(err)
		}
	}
	w.after(sqlstore.LaneWalkEvery)
	w.after(sqlstore.LaneUnused + time.Hour)
	enqueue("one")
	var givenUp string
	if err := w.store.DB().QueryRowContext(t.Context(), "select group_concat(queue) from fairlead_lane where retired_at <> 0").Scan(&givenUp); err != nil || givenUp != "two" {
		t.Errorf("given up are %q, %v", givenUp, err)
	}
}
