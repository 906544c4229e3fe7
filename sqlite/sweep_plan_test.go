package sqlite

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
)

// TestSweepsAreFoundByAnIndex reads the plans of what nodes and runs ask again and
// again: however many sweeps and lines are stored, they must not be read through.
func TestSweepsAreFoundByAnIndex(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "jobs.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	for _, ask := range []struct {
		what, query, index string
		args               []any
	}{
		{"the sweeps that run", s.sql.Sweeps + " where true and state in (select value from json_each(?)) order by id desc limit 100", "sweep_by_state", []any{"[]"}},
		{"a sweep of a name", s.sql.Sweeps + " where true and name in (select value from json_each(?)) order by id desc limit 100", "sqlite_autoindex", []any{"[]"}},
		{"the shards of a sweep", s.sql.Shards, "PRIMARY KEY", []any{1}},
		{"the sums of shards", s.sql.SweepSums, "sqlite_autoindex", []any{"[1]"}},
		{"the states of jobs of shards", s.sql.ShardsAndStates, "PRIMARY KEY", []any{1}},
		{"the orders of a run", s.sql.Orders, "PRIMARY KEY", []any{1, 1, 1, 1}},
		{"what is used of a budget", s.sql.BudgetUsed, "sqlite_autoindex", []any{1}},
		{"failed items", s.sql.FailedItems, "PRIMARY KEY", []any{1, 1, 1, 1}},
		{"failed items that wait to be tried again", s.sql.ItemsAgain, "failed_item_again", []any{1, 1, 1, 1}},
		{"which indexes have failed", s.sql.KnownFailed, "PRIMARY KEY", []any{1, "[1]"}},
		{"what shards have to try again", s.sql.CountAgain, "failed_item_again", []any{1, 1, 1}},
		{"what is not tried again", s.sql.LeaveAlone, "PRIMARY KEY", []any{1, 1}},
		{"the lines of a sweep", s.sql.SweepLogs, "sweep_log_by_sweep", []any{1, 1, 1}},
		{"the lines of a level", s.sql.LevelLogs, "sweep_log_by_level", []any{1, "error", 1, 1}},
		{"the lines of an item", s.sql.ItemLogs, "sweep_log_by_item", []any{1, 1, 1, 1}},
		{"the lines of a level of an item", s.sql.ItemLevelLogs, "sweep_log_by_", []any{1, 1, "error", 1, 1}},
		{"the history of a sweep", s.sql.SweepEvents, "sweep_event_by_sweep", []any{1, 1, 1}},
		{"sweeps that do not exist", s.sql.MissingSweeps, "PRIMARY KEY", []any{"[1]"}},
		{"lines that may be removed", s.sql.OldSweepLogs, "sweep_log_by_sweep", []any{1, 1, sql.Named("now", 1)}},
		{"events that may be removed", s.sql.OldSweepEvents, "sweep_event_by_sweep", []any{1, 1, sql.Named("now", 1)}},
	} {
		plan := planOf(t, s, ask.query, ask.args)
		if !strings.Contains(plan, ask.index) {
			t.Errorf("%s: the plan does not use %s:\n%s", ask.what, ask.index, plan)
		}
		for step := range strings.Lines(plan) {
			if strings.HasPrefix(step, "SCAN") && !strings.Contains(step, "INDEX") && !strings.Contains(step, "VIRTUAL TABLE") {
				t.Errorf("%s: the plan reads a whole table:\n%s", ask.what, plan)
			}
		}
	}
}
