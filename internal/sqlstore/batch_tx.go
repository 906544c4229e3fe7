package sqlstore

import (
	"context"
	"fmt"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
)

// batchTx is a transaction that acts on a batch. It implements batch.Tx. Statements that only
// write wait for the next one that reads, so PostgreSQL sends them with it.
type batchTx struct {
	lockedTx
	store  *conductStore
	batch  int64
	losses []batch.Loss

	expected []batch.Chunk                 // chunks whose ends the caller will probably read next
	ends     map[taskRange][]batch.TaskEnd // ends that were read ahead
}

var _ batch.Tx = (*batchTx)(nil)

// Losses implements batch.Tx.
func (t *batchTx) Losses() []batch.Loss { return t.losses }

// Chunks implements batch.Tx.
func (t *batchTx) Chunks(ctx context.Context, filter batch.ChunkFilter) ([]batch.Chunk, error) {
	cache := t.store.dialect.TaskCache()
	var known map[int64][]batch.ChunkTask
	if filter.Tasks {
		known = cache.Known()
	}
	chunks, err := readChunks(ctx, t.db, t.store.dialect, t.batch, filter, known)
	if err != nil {
		return nil, t.fail("chunks", err)
	}
	if filter.Tasks {
		cache.Keep(chunks)
	}
	if filter.Out {
		t.expect(chunks)
	}
	return chunks, nil
}

// SaveChunks implements batch.Tx.
func (t *batchTx) SaveChunks(_ context.Context, chunks []batch.Chunk) error {
	var rows Rows
	for i := range chunks {
		c := &chunks[i]
		marks, err := EncodeMarks(&c.Marks)
		if err != nil {
			return t.refuse("save chunks", fmt.Errorf("encode marks of chunk %d: %w", c.Number, err))
		}
		rows.Add(t.batch, int64(c.Number), int64(c.Held), int64(c.Out), JSON(marks))
	}
	t.db.Queue(t.store.sql.SaveChunks, &rows)
	return nil
}

// Known implements batch.Tx.
func (t *batchTx) Known(ctx context.Context, first, last int64) ([]int64, error) {
	ids, err := list(ctx, t.db, scanNumber, t.store.sql.KnownJobs, first, last)
	return ids, t.fail("known jobs", err)
}

// Running implements batch.Tx.
func (t *batchTx) Running(ctx context.Context, first, last int64) (running int, err error) {
	err = t.db.Each(ctx, func(row Scanner) error { return row.Scan(&running) }, t.store.sql.RunningBetween, first, last)
	return running, t.fail("running jobs", err)
}

// Enqueue implements batch.Tx.
func (t *batchTx) Enqueue(ctx context.Context, jobs []*fairlead.Job) error {
	if len(jobs) == 0 {
		return nil
	}
	return t.fail("enqueue", t.store.dialect.Release(ctx, t.db, jobs))
}

// Recall implements batch.Tx.
func (t *batchTx) Recall(ctx context.Context, first, last int64) ([]int64, error) {
	ids, err := t.store.dialect.Recall(ctx, t.db, first, last)
	return ids, t.fail("recall", err)
}
