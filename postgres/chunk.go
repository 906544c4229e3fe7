package postgres

import (
	"context"
	"fmt"
	"math"

	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// chunkColumns are chunks as the statements take them, in step.
type chunkColumns struct {
	numbers, held, out []int32
	marks              []string
}

func newChunkColumns(chunks int) *chunkColumns {
	return &chunkColumns{
		numbers: make([]int32, 0, chunks), held: make([]int32, 0, chunks), out: make([]int32, 0, chunks), marks: make([]string, 0, chunks),
	}
}

// save adds what changes of a chunk.
func (c *chunkColumns) save(p *batch.Chunk) error {
	marks, err := sqlstore.EncodeMarks(&p.Marks)
	if err != nil {
		return fmt.Errorf("encode marks of chunk %d: %w", p.Number, err)
	}
	c.numbers, c.held, c.out = append(c.numbers, int32(p.Number)), append(c.held, int32(p.Held)), append(c.out, int32(p.Out))
	c.marks = append(c.marks, string(marks))
	return nil
}

func (c *chunkColumns) saved(batch int64) []any {
	return []any{batch, c.numbers, c.held, c.out, c.marks}
}

// Chunks returns the matching chunks of batch b, ordered by number. Unlike most queries, it
// is not shared between stores, because each combination of filters needs a query with a
// known plan.
func (s *Store) Chunks(ctx context.Context, b int64, filter batch.ChunkFilter) ([]batch.Chunk, error) {
	var chunks []batch.Chunk
	if err := s.run(ctx, s.chunksCall(&chunks, b, filter, nil)); err != nil {
		return nil, fmt.Errorf("chunks: %w", err)
	}
	return chunks, nil
}

// chunksCall reads chunks. The tasks of some are known already, by the first ID.
func (s *Store) chunksCall(chunks *[]batch.Chunk, batch int64, filter batch.ChunkFilter, known map[int64][]batch.ChunkTask) call {
	text := s.sql.ChunksOfAll
	switch {
	case len(filter.Numbers) > 0:
		text = s.sql.ChunksByNumber
	case filter.Held:
		text = s.sql.ChunksHeld
	case filter.Out:
		text = s.sql.ChunksOut
	}
	after, kinds := filter.After, sqlstore.PassKinds()
	if after == 0 {
		after = math.MinInt32
	}
	if filter.Kind != "" {
		kinds = []string{string(filter.Kind)}
	}
	var limit *int
	if filter.Limit > 0 {
		limit = &filter.Limit
	}
	firsts := make([]int64, 0, len(known)) // none, and not null
	for first := range known {
		firsts = append(firsts, first)
	}
	return call{
		sql:     text,
		args:    []any{batch, after, limit, kinds, distinct(filter.Numbers), filter.Held, filter.Out, filter.Tasks, firsts},
		restart: func() { *chunks = nil },
		each: func(row sqlstore.Scanner) error {
			if !filter.Tasks {
				row = extraColumns{row, []any{nil}}
			}
			chunk, err := sqlstore.ScanChunk(row, filter.Tasks)
			if filter.Tasks && chunk.Tasks == nil {
				chunk.Tasks = known[chunk.First]
			}
			*chunks = append(*chunks, chunk)
			return err
		},
	}
}
