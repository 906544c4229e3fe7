package postgres

import (
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/testdb"
)

// Successes are looked for where they were found last, which must neither miss
// old ones nor read the new ones again and again.
func TestPruningALargeHistory(t *testing.T) {
	at := testdb.Postgres(t)
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
	keep := fairlead.Retention{Succeeded: time.Hour}
	pruneAll := func() (pruned int) {
		t.Helper()
		for {
			n, err := store.Prune(t.Context(), keep, 1000)
			if err != nil {
				t.Fatal(err)
			}
			if pruned += n; n == 0 {
				return pruned
			}
		}
	}
	if pruned := pruneAll(); pruned != 12600 {
		t.Fatalf("pruned %d", pruned)
	}
	if store.sweep.after < 12000 {
		t.Fatalf("it would begin at %d the next time", store.sweep.after)
	}
	store.sweep.begunAt = time.Now().Add(-2 * sweepAnew)
	pruneAll() // it begins anew, and stops where there are only newer ones again
	keep.Failed = time.Hour
	if pruned := pruneAll(); pruned != 1400 {
		t.Fatalf("pruned %d failures", pruned)
	}
	tally, err := store.Tally(t.Context(), fairlead.Filter{})
	if err != nil || tally[fairlead.Succeeded] != 30000-14000-599 || tally[fairlead.Failed] != 599 {
		t.Fatalf("what is left is %v, %v", tally, err)
	}
}
