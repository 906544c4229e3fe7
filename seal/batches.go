package seal

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
)

// AddChunks is part of batch.Store.
func (s *Store) AddChunks(ctx context.Context, id int64, chunks []batch.Chunk) error {
	sealed, err := s.sealChunks(chunks)
	if err != nil {
		return err
	}
	if err := s.Store.AddChunks(ctx, id, sealed); err != nil {
		return err
	}
	adoptChunks(chunks, sealed)
	return nil
}

// Chunks is part of batch.Store. What cannot be opened stays sealed.
func (s *Store) Chunks(ctx context.Context, id int64, filter batch.ChunkFilter) ([]batch.Chunk, error) {
	chunks, err := s.Store.Chunks(ctx, id, filter)
	s.openChunks(chunks)
	return chunks, err
}

// Conduct is part of batch.Store.
func (s *Store) Conduct(ctx context.Context, id int64, wait bool, act func(ctx context.Context, b *batch.Record, tx batch.Tx) error) (bool, error) {
	return s.Store.Conduct(ctx, id, wait, func(ctx context.Context, b *batch.Record, tx batch.Tx) error {
		return act(ctx, b, batchTx{tx, s.coder})
	})
}

// sealChunks returns copies of chunks whose parameters are sealed.
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
		if err := each(chunk.Before, c.close); err != nil {
			return nil, err
		}
	}
	return sealed, nil
}

// openChunks opens the parameters of chunks in their places.
func (c coder) openChunks(chunks []batch.Chunk) {
	for i := range chunks {
		for j := range chunks[i].Tasks {
			_ = c.openAll(&chunks[i].Tasks[j].Before, &chunks[i].Tasks[j].After)
		}
		_ = each(chunks[i].Before, func(document json.RawMessage) (json.RawMessage, error) {
			plain, _ := c.open(document)
			return plain, nil
		})
	}
}

// each replaces documents.
func each(documents map[int]json.RawMessage, by func(json.RawMessage) (json.RawMessage, error)) error {
	for i, document := range documents {
		other, err := by(document)
		if err != nil {
			return err
		}
		documents[i] = other
	}
	return nil
}

// adoptChunks gives chunks what a store has set in their copies.
func adoptChunks(chunks, sealed []batch.Chunk) {
	for i := range chunks {
		chunks[i].First = sealed[i].First
	}
}

// batchTx is a batch.Tx whose documents are sealed.
type batchTx struct {
	batch.Tx
	coder
}

// Chunks is part of batch.Tx.
func (t batchTx) Chunks(ctx context.Context, filter batch.ChunkFilter) ([]batch.Chunk, error) {
	chunks, err := t.Tx.Chunks(ctx, filter)
	t.openChunks(chunks)
	return chunks, err
}

// SaveChunks is part of batch.Tx.
func (t batchTx) SaveChunks(ctx context.Context, chunks []batch.Chunk) error {
	sealed, err := t.sealChunks(chunks)
	if err != nil {
		return err
	}
	return t.Tx.SaveChunks(ctx, sealed)
}

// Ends is part of batch.Tx.
func (t batchTx) Ends(ctx context.Context, first, last int64) ([]batch.TaskEnd, error) {
	ends, err := t.Tx.Ends(ctx, first, last)
	for i := range ends {
		_ = t.openAll(&ends[i].Memo)
	}
	return ends, err
}

// Enqueue is part of batch.Tx.
func (t batchTx) Enqueue(ctx context.Context, jobs []*fairlead.Job) error {
	sealed, err := t.sealJobs(jobs)
	if err != nil {
		return err
	}
	return t.Tx.Enqueue(ctx, sealed)
}
