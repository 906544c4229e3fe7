package postgres

import (
	"fmt"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/schedule"
)

// A run whose job is missing, though nothing says that it was deleted, is found by a
// tick and has failed: it is neither active for ever nor taken for cancelled.
func TestARunWhoseJobIsMissingHasFailed(t *testing.T) {
	at := migrated.Postgres(t)
	store := open(t, at, Options{})
	sc := planned(t, store, "s")
	fires, _ := fireNow(t, store, sc.ID, byHand)
	for _, table := range []string{"ready", "job"} {
		exec(t, at, fmt.Sprintf("delete from fairlead_%s where id = %d", table, fires[0].Job))
	}
	var ended []schedule.Fire
	_, err := store.Tick(t.Context(), 10, func(s schedule.Schedule, v schedule.View) schedule.Plan {
		ended = append(ended, v.Ended...)
		return schedule.Plan{Cursor: s.Cursor}
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(ended) != 1 || ended[0].State != fairlead.Failed {
		t.Errorf("what has ended: %+v", ended)
	}
	if _, seen := fireNow(t, store, sc.ID); len(seen.Active) > 0 || len(seen.Ended) > 0 {
		t.Errorf("then it is seen again: %+v", seen)
	}
}
