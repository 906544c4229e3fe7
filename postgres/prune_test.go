package postgres

import (
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// While there is more to remove, successes are looked for behind those that were
// removed last, and in the end from the beginning, for those that came late.
func TestPruningALargeHistory(t *testing.T) {
	at := migrated.Postgres(t)
	store := open(t, at, Options{})
	const history = `
		insert into fairlead_lane (queue, tenant, kind) values ('default', 'default', 'test');
		insert into fairlead_job (id, start_by, not_before, created_at, lane, turn, flags)
		select id, 0, 0, 0, 1, 0, 0 from generate_series(1, 30000) id;
		insert into fairlead_done (id, fence, started_at, finished_at, node, lane, attempt, failures, crashes, outcome)
		select id, 0, 0,
		       extract(epoch from clock_timestamp()) * 1000000 - case when id <= 14000 or id = 29990 then 7200000000 else 0 end,
		       0, 1, 1, 0, 0, case when id % 10 = 0 and id < 20000 then 2 else 1 end
		from generate_series(1, 30000) id`
	exec(t, at, history)
	keep := driver.Retention{Succeeded: time.Hour}
	prune := func() int {
		t.Helper()
		// As on a machine that finds the beginning quickly, and comes again soon.
		store.pruned.restUntil, store.pruned.begunAt = time.Time{}, time.Now()
		n, err := store.Prune(t.Context(), keep, 1000)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	pruneAll := func() (pruned int) {
		t.Helper()
		for {
			n := prune()
			if pruned += n; n < 1000 {
				return pruned
			}
		}
	}
	if n := prune(); n != 1000 || !store.pruned.more || store.pruned.after == 0 {
		t.Fatalf("removed %d; the next look begins at %d", n, store.pruned.after)
	}
	exec(t, at, "update fairlead_done set finished_at = 1 where id = 29999")
	if pruned := pruneAll(); pruned != 12601-1000 {
		t.Fatalf("pruned %d", pruned)
	}
	if n := prune(); n != 1 {
		t.Fatalf("of those that came late, it removed %d", n)
	}
	keep.Failed = time.Hour
	if pruned := pruneAll(); pruned != 1400 {
		t.Fatalf("pruned %d failures", pruned)
	}
	tally, err := store.Tally(t.Context(), fairlead.Filter{})
	if err != nil || tally[fairlead.Succeeded] != 30000-14000-599-2 || tally[fairlead.Failed] != 599 {
		t.Fatalf("what is left is %v, %v", tally, err)
	}
}

// The beginning is not read again and again if that takes long.
func TestPruningGoesOnBehindABeginningThatIsSlowToRead(t *testing.T) {
	at := migrated.Postgres(t)
	store := open(t, at, Options{})
	for range 2 {
		enqueueAndSucceed(t, store)
	}
	exec(t, at, "update fairlead_done set finished_at = id")
	store.pruned.restUntil, store.pruned.after = time.Now().Add(time.Hour), 2
	for _, want := range []int{1, 0} {
		n, err := store.Prune(t.Context(), driver.Retention{Succeeded: time.Hour}, 10)
		if err != nil || n != want {
			t.Fatalf("removed %d, want %d, %v", n, want, err)
		}
	}
	store.pruned.restUntil = time.Now()
	if n, err := store.Prune(t.Context(), driver.Retention{Succeeded: time.Hour}, 10); err != nil || n != 1 {
		t.Fatalf("from the beginning it removed %d, %v", n, err)
	}
}
