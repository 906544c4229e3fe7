package sqlstore

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/fairlead-io/fairlead/batch"
)

// Batches returns the matching batches, newest first.
func (s *conductStore) Batches(ctx context.Context, filter batch.Filter) ([]batch.Record, error) {
	// not a named result: the function may still run after an error
	var batches []batch.Record
	err := s.db.Read(ctx, "batches", func(ctx context.Context, db DB) (err error) {
		batches, err = s.dialect.ReadBatches(ctx, db, filter)
		return err
	})
	if err != nil {
		return nil, err
	}
	return batches, nil
}

// Chunks returns the matching chunks of a batch, ordered by number.
func (s *conductStore) Chunks(ctx context.Context, batchID int64, filter batch.ChunkFilter) ([]batch.Chunk, error) {
	var chunks []batch.Chunk
	err := s.db.Read(ctx, "chunks", func(ctx context.Context, db DB) (err error) {
		chunks, err = readChunks(ctx, db, s.dialect, batchID, filter, nil)
		return err
	})
	if err != nil {
		return nil, err
	}
	return chunks, nil
}

// readChunks reads chunks, ordered by number. known contains the tasks of some chunks by
// their first IDs. They are not read again.
func readChunks(ctx context.Context, db DB, dialect ConductDialect, batchID int64, filter batch.ChunkFilter, known map[int64][]batch.ChunkTask) ([]batch.Chunk, error) {
	firsts := slices.AppendSeq(make(List[int64], 0, len(known)), maps.Keys(known))
	statement, args := dialect.ChosenChunks(batchID, filter, firsts)
	var chunks []batch.Chunk
	err := db.Each(ctx, func(row Scanner) error {
		chunk, err := ScanChunk(row)
		if filter.Tasks && chunk.Tasks == nil {
			chunk.Tasks = known[chunk.First]
		}
		chunks = append(chunks, chunk)
		return err
	}, statement, args...)
	// MySQL's statement reads the chosen chunks in any order.
	slices.SortFunc(chunks, func(a, b batch.Chunk) int { return cmp.Compare(a.Number, b.Number) })
	return chunks, err
}
