package sqlite

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// TestTickLooksAtWhatIsDue reads the plans of what a tick asks: however many
// schedules and runs are stored, it must find those that matter by an index.
func TestTickLooksAtWhatIsDue(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "jobs.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	for _, ask := range []struct {
		what, query, index string
		args               []any
	}{
		{"the schedules that are due", s.sql.LockDueSchedules, "schedule_by_fire", []any{1, "[]", sql.Named("now", 1)}},
		{"the schedules that fire next", s.sql.SchedulesSoonest, "schedule_by_fire", []any{1}},
		{"when the next one is", s.sql.NextFire, "schedule_by_fire", []any{"[]", sql.Named("now", 1)}},
		{"runs that have ended", s.sql.EndedSchedules, "fire_open", []any{1}},
		{"the open runs of a schedule", s.sql.OpenFires, "fire_open", []any{"[1]"}},
		{"the runs of instants", s.sql.TakenInstants, "fire_by_instant", []any{sql.Named("rows", "[[1,1]]")}},
		{"the newest instants of schedules", s.sql.NewestInstants, "fire_by_instant", []any{"[1]", sql.Named("now", 1)}},
		{"the last runs of schedules", s.sql.LastFires, "fire_by_instant", []any{"[1]"}},
		{"what may be pruned", s.sql.Outdated, "done_by_end", []any{1, 1, 1}},
		{"deleted schedules", s.sql.ForgetSchedules, "schedule_deleted", []any{1, 1}},
		{"who keeps to a calendar", s.sql.CalendarUser, "schedule_by_calendar", []any{"c"}},
		{"calendars that have changed", s.sql.OutdatedCalendars, "calendar_by_version", []any{1, 1}},
		{"whether schedules were computed with another version", s.sql.OutdatedCalendars, "schedule_by_calendar_seen", []any{1, 1}},
		{"schedules that were computed with another version", s.sql.OutdatedSchedules, "schedule_by_calendar_seen", []any{"c", 1, 1}},
	} {
		plan := planOf(t, s, ask.query, ask.args)
		if !strings.Contains(plan, ask.index) {
			t.Errorf("%s: the plan does not use %s:\n%s", ask.what, ask.index, plan)
		}
		for step := range strings.Lines(plan) {
			if strings.HasPrefix(step, "SCAN") && !strings.Contains(step, "INDEX") {
				t.Errorf("%s: the plan reads a whole table:\n%s", ask.what, plan)
			}
		}
	}
}

// planOf is the plan of a statement, a line per step.
func planOf(t *testing.T, s *Store, query string, args []any) string {
	t.Helper()
	rows, err := s.readers.QueryContext(t.Context(), "explain query plan "+query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var plan strings.Builder
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		plan.WriteString(step + "\n")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return plan.String()
}

// The documents of a page are read in the order of the page, one job after the other. A sort
// would hold those of all jobs that the page chooses from in memory.
func TestAPageOfJobsSortsNoDocuments(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "jobs.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	for name, filter := range map[string]fairlead.Filter{
		"all jobs":     {},
		"one state":    {States: []fairlead.State{fairlead.Succeeded}},
		"named jobs":   {IDs: []int64{1, 2, 3}},
		"recent jobs":  {From: time.Unix(1, 0)},
		"recent ends":  {FinishedFrom: time.Unix(1, 0)},
		"below an id":  {Below: 100},
		"failed or so": {States: []fairlead.State{fairlead.Failed, fairlead.Running}},
	} {
		text, args := s.query.Find(filter, sqlstore.Window{})
		plan := planOf(t, s, text, args)
		chosen := strings.LastIndex(plan, "SCAN p\n")
		if chosen < 0 || strings.Contains(plan[chosen:], "TEMP B-TREE") {
			t.Errorf("%s: the plan sorts documents:\n%s", name, plan)
		}
	}
}
