package mysql

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// addChunk adds a chunk to the tuples of statements that store chunks.
func addChunk(into *tuples, batch int64, p *batch.Chunk) error {
	marks, err := sqlstore.EncodeMarks(&p.Marks)
	if err != nil {
		return fmt.Errorf("encode marks of chunk %d: %w", p.Number, err)
	}
	into.add().ints(batch, int64(p.Number), int64(p.Pass)).str(string(p.Kind)).
		ints(p.First, int64(p.Size), int64(p.Held), int64(p.Out)).blob(marks).end()
	return nil
}

// Chunks returns the matching chunks of a batch, ordered by number. Unlike most queries, it
// is not shared between stores, because it specifies which index the filter uses.
func (s *Store) Chunks(ctx context.Context, batch int64, filter batch.ChunkFilter) ([]batch.Chunk, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	chunks, err := s.readChunks(ctx, s.db, batch, filter, nil)
	if err != nil {
		return nil, fmt.Errorf("chunks: %w", err)
	}
	return chunks, nil
}

// readChunks reads chunks. The tasks of some are known already, by the first ID.
func (s *Store) readChunks(ctx context.Context, q querier, it int64, filter batch.ChunkFilter, known map[int64][]batch.ChunkTask) (chunks []batch.Chunk, err error) {
	firsts := []int64{0} // which no chunk has: a list must not be empty
	for first := range known {
		firsts = append(firsts, first)
	}
	err = each(ctx, q, func(row *sql.Rows) error {
		chunk, err := sqlstore.ScanChunk(row, filter.Tasks)
		if filter.Tasks && chunk.Tasks == nil {
			chunk.Tasks = known[chunk.First]
		}
		chunks = append(chunks, chunk)
		return err
	}, fill(s.chosenChunks(it, filter), "known", idList(firsts)))
	slices.SortFunc(chunks, func(a, b batch.Chunk) int { return cmp.Compare(a.Number, b.Number) })
	return chunks, err
}

// chosenChunks is the statement for a filter.
func (s *Store) chosenChunks(batch int64, filter batch.ChunkFilter) string {
	statement := s.sql.Chunks
	if filter.Tasks {
		statement = s.sql.ChunksWithTasks
	}
	after, limit := math.MinInt32, math.MaxInt32
	if filter.After != 0 {
		after = filter.After
	}
	if filter.Limit > 0 {
		limit = filter.Limit
	}
	return fill(statement, "chosen", s.chosenNumbers(filter), "batch_id", decimal(batch), "after", decimal(after), "limit", decimal(limit))
}

// chosenNumbers is the query of numbers for a filter.
func (s *Store) chosenNumbers(filter batch.ChunkFilter) string {
	conditions := ""
	if len(filter.Numbers) > 0 {
		numbers := make([]string, len(filter.Numbers))
		for i, number := range filter.Numbers {
			numbers[i] = decimal(number)
		}
		conditions = " and number in (" + strings.Join(numbers, ",") + ")"
	}
	kinds := sqlstore.PassKinds()
	if filter.Kind != "" {
		kinds = []string{string(filter.Kind)}
	}
	if filter.Held && len(filter.Numbers) == 0 {
		if filter.Out {
			conditions += " and any_out = 1"
		}
		queries := make([]string, len(kinds))
		for i, kind := range kinds {
			queries[i] = fill(s.sql.ChunksHeld, "kind", nameList([]string{kind}), "named", conditions)
		}
		return strings.Join(queries, " union all ") + " order by number limit {{limit}}"
	}
	if filter.Kind != "" {
		conditions += " and kind = " + nameList([]string{string(filter.Kind)})
	}
	if filter.Held {
		conditions += " and any_held = 1"
	}
	if filter.Out && len(filter.Numbers) > 0 {
		conditions += " and any_out = 1"
	}
	if filter.Out && len(filter.Numbers) == 0 {
		return fill(s.sql.ChunksOut, "named", conditions)
	}
	return fill(s.sql.ChunksOfAll, "named", conditions)
}
