package mysql

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// AddChunks stores chunks of a batch, all or none.
func (s *Store) AddChunks(ctx context.Context, batch int64, chunks []batch.Chunk) error {
	if len(chunks) == 0 {
		return nil
	}
	ctx = sqlstore.MayWait(ctx)
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	fresh, err := s.numberChunks(ctx, chunks)
	if err != nil {
		return fmt.Errorf("add chunks: %w", err)
	}
	return s.inTx(ctx, "add chunks", func(ctx context.Context, t *txn) error {
		var id int64
		exists, err := t.one(ctx, []any{&id}, t.sql.ShareBatch, batch)
		if err != nil {
			return err
		}
		if !exists {
			return sqlstore.NoSuchBatch(batch)
		}
		return t.addChunks(ctx, batch, fresh)
	})
}

// newChunks are chunks as they are going to be stored.
type newChunks struct {
	chunks []batch.Chunk
	tasks  [][]byte
}

// numberChunks sets the ids of tasks aside.
func (s *Store) numberChunks(ctx context.Context, chunks []batch.Chunk) (*newChunks, error) {
	fresh := &newChunks{chunks: chunks, tasks: make([][]byte, len(chunks))}
	for i := range chunks {
		p := &chunks[i]
		var err error
		if p.First, err = s.ids.Run(ctx, p.Size); err != nil {
			return nil, fmt.Errorf("set ids aside: %w", err)
		}
		if fresh.tasks[i], err = sqlstore.EncodeTasks(p); err != nil {
			return nil, err
		}
	}
	return fresh, nil
}

func (t *txn) addChunks(ctx context.Context, batch int64, fresh *newChunks) error {
	var stored tuples
	for i := range fresh.chunks {
		if err := addChunk(&stored, batch, &fresh.chunks[i]); err != nil {
			return err
		}
	}
	err := t.insert(ctx, t.sql.AddChunks, &stored)
	if isDuplicate(err) {
		return fmt.Errorf("batch %d has a chunk of one of these numbers: %w", batch, fairlead.ErrConflict)
	}
	for i := 0; err == nil && i < len(fresh.chunks); i++ {
		// One by one, and not in hexadecimal: they may be megabytes.
		_, err = t.exec(ctx, t.sql.DescribeChunk, batch, fresh.chunks[i].Number, fresh.tasks[i])
	}
	return err
}

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

// DropChunks removes the chunks of a pass.
func (s *Store) DropChunks(ctx context.Context, batch int64, pass int) error {
	ctx = sqlstore.MayWait(ctx)
	return s.inTx(ctx, "drop chunks", func(ctx context.Context, t *txn) error {
		var numbers []int64
		if err := t.each(ctx, collect(&numbers), t.sql.PassChunks, batch, pass); err != nil {
			return err
		}
		for _, statement := range []string{t.sql.DropChunks, t.sql.DropChunkTasks} {
			if _, err := t.execIDs(ctx, fill(statement, "batch_id", decimal(batch)), numbers); err != nil {
				return err
			}
		}
		return nil
	})
}

// Chunks returns chunks of a batch, in the order of their numbers.
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
	kinds := []batch.PassKind{batch.PassForward, batch.PassRetry, batch.PassUndo, batch.PassThen}
	if filter.Kind != "" {
		kinds = []batch.PassKind{filter.Kind}
	}
	if filter.Held && len(filter.Numbers) == 0 {
		if filter.Out {
			conditions += " and any_out = 1"
		}
		queries := make([]string, len(kinds))
		for i, kind := range kinds {
			queries[i] = fill(s.sql.ChunksHeld, "kind", nameList([]string{string(kind)}), "named", conditions)
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
