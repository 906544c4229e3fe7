package seal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
)

// CreateBatch implements batch.Store.
func (s *Store) CreateBatch(ctx context.Context, b batch.Batch) (batch.Batch, error) {
	sealed := b
	if err := s.sealBatch(&sealed); err != nil {
		return batch.Batch{}, err
	}
	created, err := s.Store.CreateBatch(ctx, sealed)
	adoptBatch(&created, &b)
	return created, err
}

// Batches implements batch.Store. Values that cannot be opened stay sealed.
func (s *Store) Batches(ctx context.Context, filter batch.Filter) ([]batch.Record, error) {
	found, err := s.Store.Batches(ctx, filter)
	for i := range found {
		_ = s.openBatch(&found[i].Batch) // shown sealed if it cannot be opened
	}
	return found, err
}

// AddChunks implements batch.Store. It returns ErrInvalid if a task contains a sealed value
// that this program cannot open. This happens if the tasks were read from an earlier pass.
func (s *Store) AddChunks(ctx context.Context, id int64, chunks []batch.Chunk) error {
	sealed, err := s.sealNewChunks(chunks)
	if err != nil {
		return err
	}
	if err := s.Store.AddChunks(ctx, id, sealed); err != nil {
		return err
	}
	adoptChunks(chunks, sealed)
	return nil
}

// Chunks implements batch.Store. Values that cannot be opened stay sealed.
func (s *Store) Chunks(ctx context.Context, id int64, filter batch.ChunkFilter) ([]batch.Chunk, error) {
	chunks, err := s.Store.Chunks(ctx, id, filter)
	_ = s.openChunks(chunks) // shown sealed if it cannot be opened, and rejected by AddChunks
	return chunks, err
}

// Conduct implements batch.Store. It opens a batch for act. If act does not change the
// batch's sealed values, Conduct stores them again unchanged. If the batch cannot be opened,
// Conduct leaves it to a program that has the key.
func (s *Store) Conduct(ctx context.Context, id int64, wait bool, act func(ctx context.Context, b *batch.Record, tx batch.Tx) error) (bool, error) {
	return s.Store.Conduct(ctx, id, wait, func(ctx context.Context, b *batch.Record, tx batch.Tx) error {
		stored := b.Batch
		if err := s.openBatch(&b.Batch); err != nil {
			return fmt.Errorf("batch %d: %w", id, err)
		}
		opened := b.Batch
		if err := act(ctx, b, batchTx{tx, s.coder}); err != nil {
			return err
		}
		if bytes.Equal(b.Info, opened.Info) && b.Notify == opened.Notify && reflect.DeepEqual(b.Then, opened.Then) {
			adoptBatch(&b.Batch, &stored)
			return nil
		}
		return s.sealBatch(&b.Batch)
	})
}

// sealBatch seals the documents of a batch. It copies the follow-up jobs first.
func (c coder) sealBatch(b *batch.Batch) error {
	b.Then = slices.Clone(b.Then)
	for i := range b.Then {
		if err := c.closeAll(&b.Then[i].Args); err != nil {
			return err
		}
	}
	return errors.Join(c.closeAll(&b.Info), c.closeText(&b.Notify, forMessages))
}

// openBatch opens the documents of a batch as far as possible, and returns the errors. It
// copies the follow-up jobs first, because the store may retain its own.
func (c coder) openBatch(b *batch.Batch) error {
	err := errors.Join(c.openAll(&b.Info), c.openText(&b.Notify, forMessages))
	b.Then = slices.Clone(b.Then)
	for i := range b.Then {
		err = errors.Join(err, c.openAll(&b.Then[i].Args))
	}
	return err
}

// adoptBatch copies the documents of another batch, sealed or not.
func adoptBatch(b, from *batch.Batch) {
	b.Info, b.Then, b.Notify = from.Info, from.Then, from.Notify
}

// sealNewChunks seals chunks like sealChunks, for tasks supplied by a caller.
func (c coder) sealNewChunks(chunks []batch.Chunk) ([]batch.Chunk, error) {
	for i := range chunks {
		for _, task := range chunks[i].Tasks {
			if err := c.refuseUnopened(task.Before, task.After); err != nil {
				return nil, err
			}
		}
	}
	return c.sealChunks(chunks)
}

// sealChunks returns copies of chunks with sealed parameters.
func (c coder) sealChunks(chunks []batch.Chunk) ([]batch.Chunk, error) {
	sealed := slices.Clone(chunks)
	for i := range sealed {
		chunk := &sealed[i]
		chunk.Tasks, chunk.Before = slices.Clone(chunk.Tasks), maps.Clone(chunk.Before)
		for j := range chunk.Tasks {
			if err := c.closeAll(&chunk.Tasks[j].Before, &chunk.Tasks[j].After); err != nil {
				return nil, err
			}
		}
		for j, document := range chunk.Before {
			closed, err := c.close(document)
			if err != nil {
				return nil, err
			}
			chunk.Before[j] = closed
		}
	}
	return sealed, nil
}

// openChunks opens the parameters of chunks in place, as far as possible, and returns the
// first error.
func (c coder) openChunks(chunks []batch.Chunk) (first error) {
	note := func(err error) {
		if err != nil && first == nil {
			first = err
		}
	}
	for i := range chunks {
		chunk := &chunks[i]
		for j := range chunk.Tasks {
			note(c.openAll(&chunk.Tasks[j].Before, &chunk.Tasks[j].After))
		}
		for j, document := range chunk.Before {
			plain, err := c.open(document)
			chunk.Before[j] = plain
			note(err)
		}
	}
	return first
}

// adoptChunks copies the fields that a store has set in the sealed copies back to the
// chunks.
func adoptChunks(chunks, sealed []batch.Chunk) {
	for i := range chunks {
		chunks[i].First = sealed[i].First
	}
}

// batchTx is a batch.Tx with sealed documents.
type batchTx struct {
	batch.Tx
	coder
}

// Chunks implements batch.Tx. It fails if a value cannot be opened: otherwise tasks would
// become jobs with sealed parameters.
func (t batchTx) Chunks(ctx context.Context, filter batch.ChunkFilter) ([]batch.Chunk, error) {
	chunks, err := t.Tx.Chunks(ctx, filter)
	if err == nil {
		err = t.openChunks(chunks)
	}
	return chunks, err
}

// SaveChunks implements batch.Tx.
func (t batchTx) SaveChunks(ctx context.Context, chunks []batch.Chunk) error {
	sealed, err := t.sealChunks(chunks)
	if err != nil {
		return err
	}
	return t.Tx.SaveChunks(ctx, sealed)
}

// Ends implements batch.Tx. It fails if a memo cannot be opened: otherwise the state before
// the task would be lost, and a rollback could not restore it.
func (t batchTx) Ends(ctx context.Context, first, last int64) ([]batch.TaskEnd, error) {
	ends, err := t.Tx.Ends(ctx, first, last)
	for i := range ends {
		if err == nil {
			err = t.openAll(&ends[i].Memo)
		}
	}
	return ends, err
}

// Enqueue implements batch.Tx.
func (t batchTx) Enqueue(ctx context.Context, jobs []*fairlead.Job) error {
	sealed, err := t.sealJobs(jobs)
	if err != nil {
		return err
	}
	return t.Tx.Enqueue(ctx, sealed)
}
