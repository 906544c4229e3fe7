package sqlite

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

var _ batch.Store = (*Store)(nil)

// ReadBatches implements sqlstore.ConductDialect, in one statement. SQLite plans a statement
// before it knows the arguments, so conditions that the filter does not need are left out.
func (d database) ReadBatches(ctx context.Context, db sqlstore.DB, filter batch.Filter) (batches []batch.Record, err error) {
	now := db.(*txnDB).t.now
	conditions, args := []string(nil), []any{now - batch.SeenFor.Microseconds(), now}
	add := func(condition string, arg ...any) {
		conditions, args = append(conditions, condition), append(args, arg...)
	}
	if len(filter.IDs) > 0 {
		add("b.id in (select value from json_each(?))", idList(filter.IDs))
	} else {
		add("b.opened = 1")
	}
	for _, f := range []struct {
		column string
		values []string
	}{
		{"b.name", filter.Names},
		{"b.type", filter.Types},
		{"b.queue", filter.Queues},
		{"b.tenant", filter.Tenants},
		{"coalesce(json_extract(b.body, '$.creator'), '')", filter.Creators},
		{"coalesce(json_extract(b.body, '$.env'), '')", filter.Envs},
		{"b.state", sqlstore.BatchStates(filter)},
	} {
		if len(f.values) > 0 {
			add(f.column+" in (select value from json_each(?))", jsonOf(f.values))
		}
	}
	if filter.Open {
		add("b.open = 1")
	}
	if filter.Below > 0 {
		add("b.id < ?", filter.Below)
	}
	query := d.Store.sql.Batches + " where " + strings.Join(conditions, " and ") + " order by b.id desc limit " + strconv.Itoa(sqlstore.BatchPage(filter))
	err = db.Each(ctx, sqlstore.Collect(ctx, &batches, scanRunning), query, args...)
	return batches, err
}

// scanRunning reads a batch and counts those of its tasks that run.
func scanRunning(row sqlstore.Scanner) (batch.Record, error) {
	var counts []byte
	b, err := sqlstore.ScanBatch(sqlstore.LongerRow(row, &counts))
	if err != nil {
		return b, err
	}
	if counts == nil {
		sqlstore.SawRunning(&b.Batch, b.Seen)
		return b, nil
	}
	running := map[batch.PassKind]int{}
	if err := json.Unmarshal(counts, &running); err != nil {
		return b, err
	}
	sqlstore.SawRunning(&b.Batch, batch.Seen{
		Forward: running[batch.PassForward], Retry: running[batch.PassRetry], Undo: running[batch.PassUndo],
	})
	return b, nil
}

// pruneBatches removes batches that ended longer ago than they are kept, and such
// that were never opened, and tells how many. Each goes in a transaction of its own,
// as it may be large.
func (s *Store) pruneBatches(ctx context.Context, keep driver.Retention, limit int) (int, error) {
	removed, err := inChunks(limit, 1, func(int) (int, error) {
		return inTx(ctx, s, "prune batches", func(t *txn) (int, error) {
			return t.deleteBatches(t.sql.UnopenedBatches, t.now-sqlstore.UnopenedRetention.Microseconds(), 1)
		})
	})
	for _, kept := range sqlstore.BatchRetentions(keep) {
		if err != nil || kept.For <= 0 {
			continue
		}
		var some int
		some, err = inChunks(limit-removed, 1, func(int) (int, error) {
			return inTx(ctx, s, "prune batches", func(t *txn) (int, error) {
				return t.deleteBatches(t.sql.EndedBatches, jsonOf(kept.States), t.now-kept.For.Microseconds(), 1)
			})
		})
		removed += some
	}
	return removed, err
}

// deleteBatches removes the batches that a query finds, with their chunks.
func (t *txn) deleteBatches(query string, args ...any) (int, error) {
	ids, err := t.list(query, args...)
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		if err := t.deleteBatch(id); err != nil {
			return 0, err
		}
	}
	return len(ids), nil
}

func (t *txn) deleteBatch(id int64) error {
	for _, remove := range []string{t.sql.LateIDs, t.sql.DropBatchChunks, t.sql.DropBatchTasks, t.sql.DeleteBatch} {
		if _, err := t.exec(remove, id); err != nil {
			return err
		}
	}
	return nil
}

// SetAside implements sqlstore.BatchDialect. Ids are counted in the transaction itself.
func (database) SetAside(_ context.Context, db sqlstore.DB, n int) (int64, error) {
	t := db.(*txnDB).t
	defer func(wrote bool) { t.wrote = wrote }(t.wrote) // numbers leave nothing to undo
	return t.next(jobCounter, int64(n))
}

// TaskCache implements sqlstore.ConductDialect. Nothing is cached: a transaction may read
// chunks that another call has stored in it, and if it is rolled back, their ids are given out
// again.
func (database) TaskCache() *sqlstore.TaskCache { return nil }

// Release implements sqlstore.ConductDialect.
func (database) Release(ctx context.Context, tx sqlstore.JobTx, jobs []*fairlead.Job) error {
	j := tx.(*jobTx)
	if err := j.Flush(ctx); err != nil {
		return err
	}
	fresh := newJobs(jobs)
	for i, job := range jobs {
		fresh[i].id = job.ID
	}
	_, err := j.t.insert(fresh)
	return err
}

// Recall implements sqlstore.ConductDialect.
func (database) Recall(ctx context.Context, tx sqlstore.JobTx, first, last int64) ([]int64, error) {
	j := tx.(*jobTx)
	if err := j.Flush(ctx); err != nil {
		return nil, err
	}
	return j.t.recall(first, last)
}

// QueueEnds implements sqlstore.ConductDialect, in one statement.
func (d database) QueueEnds(db sqlstore.DB, spans []sqlstore.TaskSpan, into *sqlstore.EndRows) {
	ranges := make([][2]int64, len(spans))
	for i, span := range spans {
		ranges[i] = [2]int64{span.First, span.Last}
	}
	db.QueueEach(into.AddWhole, d.Store.sql.Ends, jsonOf(ranges))
}
