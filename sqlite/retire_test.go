package sqlite_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
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
		Open:    func(t testing.TB) fairlead.Store { return open(t, "sqlite://"+file, options) },
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
	}{"given up": {0, false}, "removed": {2 * sqlstore.LaneGivenUp, true}} {
		t.Run(name, func(t *testing.T) {
			h, look := laneHarness(t)
			here, there := h.Open(t), h.Open(t)
			enqueue := func(store fairlead.Store, kind string) *fairlead.Job {
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
				if _, err := there.Prune(t.Context(), fairlead.Retention{}, 100); err != nil {
					t.Fatal(err)
				}
			}
			for _, kind := range []string{"unused", "last"} {
				if err := here.Delete(t.Context(), enqueue(here, kind).ID); err != nil {
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
