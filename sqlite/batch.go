package sqlite

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

var _ batch.Store = (*Store)(nil)

// encodeBatch is what is declared of a batch, and how it stands.
func encodeBatch(batch *batch.Record) (body, status string, err error) {
	declared, err := sqlstore.EncodeBatch(&batch.Batch)
	if err != nil {
		return "", "", err
	}
	stands, err := sqlstore.EncodeBatchStatus(batch)
	return string(declared), string(stands), err
}

// batch reads a batch as it was last acted upon.
func (t *txn) batch(id int64) (batch batch.Record, losses []batch.Loss, err error) {
	found := false
	err = t.each(t.sql.LockBatch, []any{id}, func(row sqlstore.Scanner) (err error) {
		found = true
		batch, losses, err = sqlstore.ScanLockedBatch(row)
		return err
	})
	if err == nil && !found {
		err = sqlstore.NoSuchBatch(id)
	}
	return batch, losses, err
}

// saveBatch keeps what may change of a batch.
func (t *txn) saveBatch(id int64, batch *batch.Record) error {
	body, status, err := encodeBatch(batch)
	if err != nil {
		return err
	}
	return t.must(1, t.sql.SaveBatch, batch.Opened, sqlstore.BatchOpen(batch), sqlstore.Micros(batch.EndedAt), string(batch.State()), body, status, id)
}

// Batches returns the matching batches, newest first. Unlike most queries, it is not shared
// between stores. SQLite plans a query before it knows the arguments, so Batches omits
// conditions that the filter does not need.
func (s *Store) Batches(ctx context.Context, filter batch.Filter) ([]batch.Record, error) {
	var conditions []string
	var args []any
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
	query := s.sql.Batches + " where " + strings.Join(conditions, " and ") + " order by b.id desc limit " + strconv.Itoa(sqlstore.BatchPage(filter))
	return read(ctx, s, "list batches", func(t *txn) ([]batch.Record, error) {
		var batches []batch.Record
		err := t.each(query, append([]any{t.now - batch.SeenFor.Microseconds(), t.now}, args...), sqlstore.Collect(ctx, &batches, scanRunning))
		return batches, err
	})
}

// extraColumns scans a column that follows those that others know of.
type extraColumns struct {
	sqlstore.Scanner
	into any
}

// Scan is part of sqlstore.Scanner.
func (b extraColumns) Scan(into ...any) error { return b.Scanner.Scan(append(into, b.into)...) }

// scanRunning reads a batch and counts those of its tasks that run.
func scanRunning(row sqlstore.Scanner) (batch.Record, error) {
	var counts []byte
	b, err := sqlstore.ScanBatch(extraColumns{row, &counts})
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
