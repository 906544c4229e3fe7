package mysql

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Conduct locks a batch and calls act with it. It returns ErrNotFound if the batch does not
// exist.
func (s *Store) Conduct(ctx context.Context, id int64, wait bool, act func(ctx context.Context, batch *batch.Record, tx batch.Tx) error) (bool, error) {
	if wait {
		ctx = sqlstore.MayWait(ctx)
	}
	var c *lockedBatch
	err := s.inTx(ctx, "conduct", func(ctx context.Context, t *txn) error {
		c = &lockedBatch{txn: t, id: id}
		return c.conduct(ctx, wait, act)
	})
	if err != nil {
		return false, err
	}
	return c.locked, nil
}

// lockedBatch is a transaction that acts upon a batch.
type lockedBatch struct {
	*txn
	id     int64
	locked bool
	now    time.Time // the database's clock, read under the lock
	failed error     // why it cannot be kept
	losses []batch.Loss

	chunks []batch.Chunk               // that were read as released and whose ends act did not ask for yet
	ends   map[idRange][]batch.TaskEnd // those that were read ahead
}

func (c *lockedBatch) conduct(ctx context.Context, wait bool, act func(ctx context.Context, batch *batch.Record, tx batch.Tx) error) error {
	batch, err := c.lock(ctx, wait)
	if err != nil || !c.locked {
		return err
	}
	before, err := newBatchRow(&batch)
	if err != nil {
		return err
	}
	fixed := batch
	if err := act(ctx, &batch, batchTx{c}); err != nil {
		return err
	}
	if c.failed != nil { // whatever act makes of it
		return c.failed
	}
	batch.ID, batch.Name, batch.Type, batch.Queue, batch.Tenant = fixed.ID, fixed.Name, fixed.Type, fixed.Queue, fixed.Tenant
	batch.Creator, batch.CreatedAt = fixed.Creator, fixed.CreatedAt
	row, err := newBatchRow(&batch)
	if err != nil || bytes.Equal(row.body, before.body) && bytes.Equal(row.status, before.status) {
		return err
	}
	return c.must(ctx, 1, c.sql.KeepBatch, sqlstore.Micros(batch.EndedAt), batch.Opened, sqlstore.BatchOpen(&batch), string(batch.State()),
		row.status, row.body, c.id)
}

// lock locks the batch, unless another has it locked and wait is not set.
func (c *lockedBatch) lock(ctx context.Context, wait bool) (batch batch.Record, err error) {
	statement := c.sql.TryBatch
	if wait {
		statement = c.sql.LockBatch
	}
	err = c.each(ctx, func(row *sql.Rows) error {
		c.locked = true
		batch, c.losses, err = sqlstore.ScanLockedBatch(row)
		return err
	}, statement, c.id)
	if err != nil {
		return batch, err
	}
	if !c.locked {
		var id int64
		exists, err := c.one(ctx, []any{&id}, c.sql.BatchExists, c.id)
		if err == nil && !exists {
			err = sqlstore.NoSuchBatch(c.id)
		}
		return batch, err
	}
	now, err := c.clock(ctx)
	c.now = sqlstore.Time(now)
	return batch, err
}

// batchTx is conducting as a batch.Tx. What fails must not be kept,
// whatever its caller makes of it.
type batchTx struct {
	c *lockedBatch
}

func (b batchTx) note(verb string, err error) error {
	if err == nil {
		return nil
	}
	err = fmt.Errorf("%s: %w", verb, err)
	b.c.failed = firstError(b.c.failed, err)
	return err
}

// Now implements batch.Tx.
func (b batchTx) Now() time.Time { return b.c.now }

// Losses implements batch.Tx.
func (b batchTx) Losses() []batch.Loss { return b.c.losses }

// Chunks implements batch.Tx.
func (b batchTx) Chunks(ctx context.Context, filter batch.ChunkFilter) ([]batch.Chunk, error) {
	var known map[int64][]batch.ChunkTask
	if filter.Tasks {
		known = b.c.tasks.Known()
	}
	chunks, err := b.c.readChunks(ctx, b.c.tx, b.c.id, filter, known)
	if err == nil && filter.Tasks {
		b.c.tasks.Keep(chunks)
	}
	if filter.Out {
		b.c.expect(chunks)
	}
	return chunks, b.note("chunks", err)
}

// SaveChunks implements batch.Tx.
func (b batchTx) SaveChunks(ctx context.Context, chunks []batch.Chunk) error {
	var saved tuples
	for i := range chunks {
		if err := addChunk(&saved, b.c.id, &chunks[i]); err != nil {
			return b.note("save chunks", err)
		}
	}
	return b.note("save chunks", b.c.insert(ctx, b.c.sql.SaveChunks, &saved))
}

// Ends implements batch.Tx.
func (b batchTx) Ends(ctx context.Context, first, last int64) ([]batch.TaskEnd, error) {
	ends, err := b.c.endsOf(ctx, idRange{first, last})
	return ends, b.note("ends", err)
}

// Known implements batch.Tx.
func (b batchTx) Known(ctx context.Context, first, last int64) ([]int64, error) {
	var ids []int64
	err := b.c.each(ctx, collect(&ids), b.c.sql.KnownJobs, first, last)
	return ids, b.note("known jobs", err)
}

// Running implements batch.Tx.
func (b batchTx) Running(ctx context.Context, first, last int64) (int, error) {
	var counts []int64
	err := b.c.each(ctx, collect(&counts), b.c.sql.RunningBetween, first, last, first, last)
	if err != nil {
		return 0, b.note("running jobs", err)
	}
	return int(counts[0]), nil
}

// Enqueue implements batch.Tx.
func (b batchTx) Enqueue(ctx context.Context, jobs []*fairlead.Job) error {
	ids := make([]int64, len(jobs))
	for i, job := range jobs {
		ids[i] = job.ID
	}
	return b.note("enqueue", b.c.enqueue(ctx, jobs, ids))
}

// Recall implements batch.Tx.
func (b batchTx) Recall(ctx context.Context, first, last int64) ([]int64, error) {
	ids, err := b.c.recall(ctx, first, last)
	return ids, b.note("recall", err)
}
