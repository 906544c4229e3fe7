package postgres

import (
	"bytes"
	"context"
	"fmt"
	"slices"
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
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	var c *batchTx
	err := s.renewing(ctx, func(ctx context.Context) (err error) {
		c, err = s.conduct(ctx, id, wait, act)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("conduct: %w", err)
	}
	if c.locked {
		c.tell(ctx)
	}
	return c.locked, nil
}

// conduct is one transaction, or several if it has to be repeated.
func (s *Store) conduct(ctx context.Context, id int64, wait bool, act func(ctx context.Context, batch *batch.Record, tx batch.Tx) error) (c *batchTx, err error) {
	err = s.inRoundTrips(ctx, func(ctx context.Context, t *roundTrips) error {
		c = &batchTx{Store: s, trips: t, id: id}
		batch, err := c.lock(ctx, wait)
		if err != nil || !c.locked {
			return err
		}
		before, err := newBatchRow(&batch)
		if err != nil {
			return err
		}
		fixed := batch
		if err := act(ctx, &batch, c); err != nil {
			return err
		}
		if c.failed != nil { // whatever act makes of it
			return c.failed
		}
		batch.ID, batch.Name, batch.Type, batch.Queue, batch.Tenant = fixed.ID, fixed.Name, fixed.Type, fixed.Queue, fixed.Tenant
		batch.Creator, batch.CreatedAt = fixed.Creator, fixed.CreatedAt
		return c.keep(ctx, &batch, before)
	})
	return c, err
}

// batchTx is a transaction that acts upon a batch: a batch.Tx. What is
// only written waits for the next round trip, so that a look at a batch takes few.
type batchTx struct {
	*Store
	trips  *roundTrips
	id     int64
	locked bool
	now    time.Time // the database's clock, read under the lock
	failed error     // why it cannot be kept
	writes []call    // that were not sent yet
	losses []batch.Loss

	chunks []batch.Chunk               // that were read as released and whose ends act did not ask for yet
	ends   map[idRange][]batch.TaskEnd // those that were read ahead

	fresh  []*newJobs
	sentAt time.Time // when the first of them were sent
	gates  []int64   // where recalled jobs had places
}

// idRange is a range of ids.
type idRange struct{ first, last int64 }

// lock begins the transaction.
func (c *batchTx) lock(ctx context.Context, wait bool) (batch batch.Record, err error) {
	text, exists, now := c.sql.TryBatch, false, int64(0)
	if wait {
		text = c.sql.LockBatch
	}
	err = c.trips.first(ctx,
		call{sql: c.pin() + c.sql.Dwell},
		call{sql: text, args: []any{c.id}, each: func(row sqlstore.Scanner) error {
			c.locked = true
			batch, c.losses, err = sqlstore.ScanLockedBatch(row)
			return err
		}},
		call{sql: c.sql.BatchExists, args: []any{c.id}, each: hits(&exists)},
		call{sql: c.sql.Now, each: func(row sqlstore.Scanner) error { return row.Scan(&now) }})
	if err == nil && !exists {
		err = sqlstore.NoSuchBatch(c.id)
	}
	c.now = sqlstore.Time(now)
	return batch, err
}

// ask makes calls after what was written before them.
func (c *batchTx) ask(ctx context.Context, calls ...call) error {
	if c.failed == nil {
		c.noteSent()
		c.failed = c.trips.run(ctx, append(c.writes, calls...)...)
		c.writes = nil
	}
	return c.failed
}

func (c *batchTx) noteSent() {
	if c.sentAt.IsZero() && len(c.fresh) > 0 {
		c.sentAt = time.Now()
	}
}

// keep writes what changed of the batch, and commits.
func (c *batchTx) keep(ctx context.Context, batch *batch.Record, before batchRow) error {
	row, err := newBatchRow(batch)
	if err != nil {
		return err
	}
	var body []byte // null: as it was
	if !bytes.Equal(row.body, before.body) {
		body = row.body
	}
	if body != nil || !bytes.Equal(row.status, before.status) {
		c.writes = append(c.writes, call{sql: c.sql.KeepBatch, args: []any{
			c.id, sqlstore.Micros(batch.EndedAt), batch.Opened, sqlstore.BatchOpen(batch), string(batch.State()), string(row.status), jsonText(body),
		}})
	}
	c.noteSent()
	return c.trips.last(ctx, c.writes...)
}

// tell wakes those who may run the jobs, once all is committed.
func (c *batchTx) tell(ctx context.Context) {
	for _, fresh := range c.fresh {
		c.announce(fresh, time.Since(c.sentAt))
		c.gates = append(c.gates, fresh.gates()...)
	}
	c.admit(ctx, c.gates)
}

// Now implements batch.Tx.
func (c *batchTx) Now() time.Time { return c.now }

// Losses implements batch.Tx.
func (c *batchTx) Losses() []batch.Loss { return c.losses }

// Chunks implements batch.Tx.
func (c *batchTx) Chunks(ctx context.Context, filter batch.ChunkFilter) ([]batch.Chunk, error) {
	var chunks []batch.Chunk
	var known map[int64][]batch.ChunkTask
	if filter.Tasks {
		known = c.tasks.Known()
	}
	if err := c.ask(ctx, c.chunksCall(&chunks, c.id, filter, known)); err != nil {
		return nil, fmt.Errorf("chunks: %w", err)
	}
	if filter.Tasks {
		c.tasks.Keep(chunks)
	}
	if filter.Out {
		c.expect(chunks)
	}
	return chunks, nil
}

// SaveChunks implements batch.Tx.
func (c *batchTx) SaveChunks(_ context.Context, chunks []batch.Chunk) error {
	columns := newChunkColumns(len(chunks))
	for i := range chunks {
		if err := columns.save(&chunks[i]); err != nil {
			return err
		}
	}
	if len(chunks) > 0 {
		c.writes = append(c.writes, call{sql: c.sql.SaveChunks, args: columns.saved(c.id)})
	}
	return nil
}

// Enqueue implements batch.Tx.
func (c *batchTx) Enqueue(_ context.Context, jobs []*fairlead.Job) error {
	if len(jobs) == 0 {
		return nil
	}
	fresh := &newJobs{jobs: slices.Clone(jobs), ids: make([]int64, len(jobs))}
	if err := c.knowLanesOf(fresh); err != nil {
		c.failed = err
		return err
	}
	for i, job := range jobs {
		fresh.ids[i] = job.ID
	}
	c.fresh = append(c.fresh, fresh)
	c.writes = append(c.writes, fresh.plainCall(c.Store))
	return nil
}
