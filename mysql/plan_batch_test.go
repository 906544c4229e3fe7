package mysql

import (
	"fmt"
	"strings"

	"github.com/fairlead-io/fairlead/batch"
)

// batchStatements are the statements of batches that lock rows, and those that must
// not read more than they are asked for.
func (s *Store) batchStatements(ids []int64, marks func(statement string, values ...string) string) map[string]string {
	var keys, gated tuples
	for _, id := range ids {
		keys.add().ints(1, 0, 0, 5, id).end()
		gated.add().ints(1, 0, 5, id).end()
	}
	list, condition := idList(ids), within([]idRange{{1, 9}, {20, 29}})
	statements := map[string]string{
		"lock_batch":      marks(s.sql.TryBatch, "1"),
		"share_batch":     marks(s.sql.ShareBatch, "1"),
		"batch_clock":     marks(s.sql.BatchClock, "1"),
		"keep_batch":      marks(s.sql.KeepBatch, "1", "1", "1", "'x'", "'{}'", "'{}'", "1"),
		"out_ranges":      fill(s.sql.OutRanges, "ids", list),
		"running_among":   fill(s.sql.RunningAmong, "among", condition),
		"pass_parts":      marks(s.sql.PassChunks, "1", "1"),
		"drop_parts":      marks(fill(s.sql.DropChunks, "list", list), "1"),
		"drop_tasks":      marks(fill(s.sql.DropChunkTasks, "list", list), "1"),
		"ends":            fill(s.sql.Ends, "among", condition),
		"memos":           fill(s.sql.Memos, "among", condition),
		"out_parts":       marks(s.sql.OutChunks, "1", "9"),
		"sweep_of":        marks(s.sql.SweepOf, "1"),
		"known_jobs":      marks(s.sql.KnownJobs, "1", "9"),
		"running_between": strings.NewReplacer("?1", "1", "?2", "9").Replace(s.sql.RunningBetween),
		"job_range":       marks(s.sql.LockJobRange, "1", "9"),
		"recall_later":    fill(s.sql.RecallLater, "ids", list),
		"recall_ready":    fill(s.sql.RecallReady, "rows", string(keys.text)),
		"recall_parked":   fill(s.sql.RecallParked, "rows", string(gated.text)),
		"old_batch":       marks(s.sql.LockOldBatch, "'success'", "5"),
		"unopened":        marks(s.sql.LockUnopened, "5"),
		"batch_parts":     marks(s.sql.DropBatchChunks, "1"),
		"batch_tasks":     marks(s.sql.DropBatchTasks, "1"),
		"delete_batch":    marks(s.sql.DeleteBatch, "1"),
	}
	for i, filter := range []batch.Filter{
		{}, {Open: true}, {IDs: ids}, {Names: []string{"name1"}}, {Tenants: []string{"tenant1", "tenant2"}}, {Types: []string{"move"}, Below: 7},
	} {
		statements[fmt.Sprint("batches ", i)] = s.chosenBatches(filter)
	}
	for i, filter := range []batch.ChunkFilter{
		{}, {After: 5, Limit: 5}, {Numbers: []int{1, 2}, Tasks: true}, {Out: true}, {Held: true, Tasks: true, Limit: 3}, {Held: true, Kind: batch.PassUndo},
	} {
		statements[fmt.Sprint("chunks ", i)] = fill(s.chosenChunks(1, filter), "known", "0")
	}
	return statements
}

// batchRows are rows of the tables of batches, as grow makes them: all batches but
// each hundredth have ended, and one of them has all the chunks.
var batchRows = map[string]string{
	"batch": "(name, type, queue, tenant, created_at, opened, open, ended_at, state, status, body) values " +
		"('name%[1]d', 'move', 'q', 'tenant%[1]d', 1, 1, %[1]d %% 100 = 0, %[1]d %% 100, 'success', '{}', '{}')",
	"part":      "(batch, number, pass, kind, first_job, size, held, out_, marks) values (1, %[1]d, 1, 'forward', %[1]d, 1, %[1]d > 2900, %[1]d %% 100 = 0, '{}')",
	"part_task": "(batch, number, tasks) values (1, %[1]d, '[]')",
}

// derived reports whether a table of a plan is what a part of the statement found.
func derived(table string) bool { return table == "v" || strings.HasPrefix(table, "<") }
