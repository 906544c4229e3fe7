package sqlite

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/batch"
)

// TestABatchLooksAtWhatIsInUse reads the plans of what conducting asks: however many
// batches have ended, and however many chunks a batch has, it must find those that
// matter by an index.
func TestABatchLooksAtWhatIsInUse(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "jobs.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	chunks := func(filter batch.ChunkFilter) string {
		query, _ := database{s}.ChosenChunks(1, filter, nil)
		return query
	}
	for _, ask := range []struct {
		what, query, index string
		args               []any
	}{
		{"open batches", s.sql.Batches + " where b.opened = 1 and b.open = 1 order by b.id desc limit 1", "batch_open", []any{0, 1}},
		{"running jobs of open batches", s.sql.Batches + " where b.opened = 1 and b.open = 1 order by b.id desc limit 1", "part_out", []any{0, 1}},
		{"chunks that are out", chunks(batch.ChunkFilter{Out: true}), "part_out", []any{1}},
		{"chunks that are held", chunks(batch.ChunkFilter{Held: true, Tasks: true, Limit: 2}), "part_held", []any{1}},
		{"the next chunks", chunks(batch.ChunkFilter{After: 5, Tasks: true, Limit: 2}), "autoindex", []any{1, 5}},
		{"chunks by number", chunks(batch.ChunkFilter{Numbers: []int{1}}), "autoindex", []any{1, "[1]"}},
		{"chunks that are removed", s.sql.DropChunks, "autoindex", []any{1, "[1]"}},
		{"jobs that run", s.sql.RunningBetween, "INTEGER PRIMARY KEY", []any{1, 1}},
		{"jobs that ended", s.sql.Ends, "SEARCH d USING INTEGER PRIMARY KEY", []any{"[[1,1]]"}},
		{"jobs that wait", s.sql.Recallable, "INTEGER PRIMARY KEY", []any{1, 1}},
		{"batches that ended", s.sql.EndedBatches, "batch_ended", []any{`["fail"]`, 1, 1}},
		{"batches that were never opened", s.sql.UnopenedBatches, "batch_unopened", []any{1, 1}},
		{"jobs that may be removed, by their batches", s.sql.Outdated, "part_by_first", []any{1, 1, 1}},
		{"jobs that may be removed, by their sweeps", s.sql.Outdated, "shard_by_job", []any{1, 1, 1}},
		{"who needs a job", s.sql.NeededBy, "part_by_first", []any{1}},
		{"jobs to take out of ready", s.sql.LeaveReadyMany, "PRIMARY KEY", []any{"[1]"}},
	} {
		plan := planOf(t, s, ask.query, ask.args)
		if !strings.Contains(plan, ask.index) {
			t.Errorf("%s: the plan does not use %s:\n%s", ask.what, ask.index, plan)
		}
		for step := range strings.Lines(plan) {
			known := strings.Contains(step, "INDEX") || strings.Contains(step, "VIRTUAL TABLE") || strings.HasPrefix(step, "SCAN k") || strings.HasPrefix(step, "SCAN d\n") || strings.HasPrefix(step, "SCAN CONSTANT ROW")
			if strings.HasPrefix(step, "SCAN") && !known {
				t.Errorf("%s: the plan reads a whole table:\n%s", ask.what, plan)
			}
		}
	}
}
