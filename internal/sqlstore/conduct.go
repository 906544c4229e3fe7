package sqlstore

import (
	"bytes"
	"context"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
)

// ConductDialect implements the operations on batches, and on the jobs of their tasks, that
// differ between databases.
type ConductDialect interface {
	// ReadBatches reads batches, newest first, with the current numbers of their running
	// tasks. The index to use for a filter, and whether these numbers need separate
	// statements, depend on the database.
	ReadBatches(ctx context.Context, db DB, filter batch.Filter) ([]batch.Record, error)
	// ChosenChunks returns the statement that reads the matching chunks, with its
	// arguments. The statement reads the columns of ScanChunk. Its tasks are null if the
	// filter does not include them, and may be null if the chunk's first ID is in known,
	// which is never nil.
	ChosenChunks(batch int64, filter batch.ChunkFilter, known List[int64]) (statement string, args []any)
	// TaskCache returns the store's cache of tasks, or nil if the store caches none.
	TaskCache() *TaskCache
	// Release stores jobs under the IDs that they have. The jobs are normalized by
	// NormalizeJobs and have no keys and no concurrency keys.
	Release(ctx context.Context, tx JobTx, jobs []*fairlead.Job) error
	// Recall implements batch.Tx.
	Recall(ctx context.Context, tx JobTx, first, last int64) ([]int64, error)
	// QueueEnds queues the statements that read the ends of jobs. It may leave out ends
	// that a span does not ask for, and may include them.
	QueueEnds(db DB, spans []TaskSpan, into *EndRows)
}

// ownClock is a JobTx of SQLite: it holds the write lock of the file from the beginning and
// knows the time. A batch that it does not find does not exist.
type ownClock interface{ Clock() int64 }

// conductStore reads batches and acts on them.
type conductStore struct {
	db      Database
	acting  Acting
	dialect ConductDialect
	batches *BatchStatements
	sql     *ConductStatements
}

// ConductStatements holds the SQL statements of conductStore.
type ConductStatements struct {
	TryBatch       string `sql:"try_batch"`
	BatchClock     string `sql:"batch_clock"`
	KeepBatch      string `sql:"keep_batch"`
	SaveChunks     string `sql:"save_chunks"`
	KnownJobs      string `sql:"known_jobs"`
	RunningBetween string `sql:"running_between"`
}

// Conduct runs act on a batch under its lock. It returns ErrNotFound if the batch does not
// exist.
//
// It locks the batch and reads it, lets act change a copy, and writes the copy if it differs
// from the stored batch. Every change of an open batch takes this lock. So between two
// statements of act only the jobs of its tasks change: nodes start and finish them. A task
// that ends after act has read the ends of its chunk is counted by the next call. act must not
// change what identifies the batch, so those fields are restored before the batch is
// written.
func (s *conductStore) Conduct(ctx context.Context, id int64, wait bool, act func(ctx context.Context, batch *batch.Record, tx batch.Tx) error) (bool, error) {
	return actLocked(ctx, s.acting, "conduct", Subject{"batch", id}, wait, func(ctx context.Context, locked lockedTx) (bool, error) {
		tx := &batchTx{lockedTx: locked, store: s, batch: id}
		before, err := tx.lock(ctx, wait)
		if err != nil || before == nil {
			return false, err
		}
		stored, err := newBatchRow(before) // encoded before act, because the copy shares slices and maps with it
		if err != nil {
			return true, err
		}
		after := *before
		if err := tx.outcome(act(ctx, &after, tx)); err != nil {
			return true, err
		}
		after.ID, after.Name, after.Type, after.Queue, after.Tenant = before.ID, before.Name, before.Type, before.Queue, before.Tenant
		after.Creator, after.CreatedAt = before.Creator, before.CreatedAt
		return true, tx.keep(&after, stored)
	})
}

// lock locks the batch. It returns nil if another transaction holds the lock and wait is not
// set.
//
// The clock is read by a second statement, after the lock: the first may wait long for the
// lock, and a time from before would date what act does too early. The second statement also
// tells a batch that is locked from one that does not exist.
func (t *batchTx) lock(ctx context.Context, wait bool) (b *batch.Record, err error) {
	statement, exists := t.store.sql.TryBatch, false
	if wait {
		statement = t.store.batches.LockBatch
	}
	t.db.QueueEach(func(row Scanner) error {
		found, losses, err := ScanLockedBatch(row)
		b, t.losses = &found, losses
		return err
	}, statement, t.batch)
	if clock, ok := t.db.(ownClock); ok {
		t.now = clock.Clock()
	} else {
		t.db.QueueEach(func(row Scanner) error { return row.Scan(&t.now, &exists) }, t.store.sql.BatchClock, t.batch)
	}
	if err := t.db.Flush(ctx); err != nil {
		return nil, err
	}
	if b == nil && !exists {
		return nil, NoSuchBatch(t.batch)
	}
	return b, nil
}

// keep writes the changes of the batch.
func (t *batchTx) keep(b *batch.Record, stored batchRow) error {
	row, err := newBatchRow(b)
	if err != nil {
		return err
	}
	if bytes.Equal(row.body, stored.body) {
		row.body = nil // unchanged
		if bytes.Equal(row.status, stored.status) {
			return nil
		}
	}
	t.db.Queue(t.store.sql.KeepBatch, Micros(b.EndedAt), b.Opened, BatchOpen(b), string(b.State()), row.status, row.body, t.batch)
	return nil
}

// batchRow holds the columns of a batch that contain JSON.
type batchRow struct {
	body, status JSON
}

func newBatchRow(b *batch.Record) (row batchRow, err error) {
	if row.body, err = EncodeBatch(&b.Batch); err != nil {
		return row, err
	}
	row.status, err = EncodeBatchStatus(b)
	return row, err
}
