package mysql

import (
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/schedule"
)

// A run whose job is missing, though nothing says that it was deleted, is found by a
// tick and has failed: it is neither active for ever nor taken for cancelled.
func TestARunWhoseJobIsMissingHasFailed(t *testing.T) {
	s, _ := openWithNode(t, Migrated.MySQL(t))
	run := makeRunsOf(t, s, putSchedule(t, s, "s"), 1)[0]
	for _, table := range []string{"ready", "job"} {
		if _, err := s.db.ExecContext(t.Context(), "delete from "+s.expand(table)+" where id = ?", run.Job); err != nil {
			t.Fatal(err)
		}
	}
	var ended []schedule.Fire
	for range 2 {
		_, err := s.Tick(t.Context(), 10, func(s schedule.Schedule, v schedule.View) schedule.Plan {
			ended = append(ended, v.Ended...)
			return schedule.Plan{Cursor: s.Cursor}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(ended) != 1 || ended[0].State != fairlead.Failed {
		t.Errorf("what has ended: %+v", ended)
	}
}
