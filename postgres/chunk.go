package postgres

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// AddChunks stores chunks of a batch, all or none.
func (s *Store) AddChunks(ctx context.Context, batch int64, chunks []batch.Chunk) error {
	ctx = sqlstore.MayWait(ctx)
	if len(chunks) == 0 {
		return nil
	}
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	if err := s.addChunks(ctx, batch, chunks); err != nil {
		return fmt.Errorf("add chunks: %w", err)
	}
	return nil
}

func (s *Store) addChunks(ctx context.Context, batch int64, chunks []batch.Chunk) error {
	stored := 0
	err := s.retry(ctx, func(ctx context.Context) error {
		pin := s.pin() // of the server that the ids come from
		columns, err := s.numberChunks(ctx, chunks)
		if err != nil {
			return err
		}
		return s.sendOnce(ctx, s.pool, call{sql: pin}, []call{{
			sql:  s.sql.AddChunks,
			args: columns.added(batch),
			each: func(row sqlstore.Scanner) error { return row.Scan(&stored) },
		}})
	})
	var refusal *pgconn.PgError
	const uniqueViolation = "23505"
	switch {
	case errors.As(err, &refusal) && refusal.Code == uniqueViolation:
		return fmt.Errorf("batch %d has a chunk of one of these numbers: %w", batch, fairlead.ErrConflict)
	case err == nil && stored == 0:
		return sqlstore.NoSuchBatch(batch)
	}
	return err
}

// numberChunks sets the ids of tasks aside.
func (s *Store) numberChunks(ctx context.Context, chunks []batch.Chunk) (*chunkColumns, error) {
	columns := newChunkColumns(len(chunks))
	for i := range chunks {
		var err error
		if chunks[i].First, err = s.ids.Run(ctx, chunks[i].Size); err != nil {
			return nil, fmt.Errorf("set ids aside: %w", err)
		}
		if err := columns.add(&chunks[i]); err != nil {
			return nil, err
		}
	}
	return columns, nil
}

// chunkColumns are chunks as the statements take them, in step.
type chunkColumns struct {
	numbers, passes, sizes, held, out []int32
	firsts                            []int64
	kinds, marks, tasks               []string
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

// add adds all of a chunk.
func (c *chunkColumns) add(p *batch.Chunk) error {
	tasks, err := sqlstore.EncodeTasks(p)
	if err != nil {
		return err
	}
	c.passes, c.sizes = append(c.passes, int32(p.Pass)), append(c.sizes, int32(p.Size))
	c.firsts, c.kinds, c.tasks = append(c.firsts, p.First), append(c.kinds, string(p.Kind)), append(c.tasks, string(tasks))
	return c.save(p)
}

func (c *chunkColumns) added(batch int64) []any {
	return []any{batch, c.numbers, c.passes, c.kinds, c.firsts, c.sizes, c.held, c.out, c.marks, c.tasks}
}

func (c *chunkColumns) saved(batch int64) []any {
	return []any{batch, c.numbers, c.held, c.out, c.marks}
}

// DropChunks removes the chunks of a pass.
func (s *Store) DropChunks(ctx context.Context, batch int64, pass int) error {
	ctx = sqlstore.MayWait(ctx)
	if err := s.run(ctx, call{sql: s.sql.DropChunks, args: []any{batch, pass}}); err != nil {
		return fmt.Errorf("drop chunks: %w", err)
	}
	return nil
}

// Chunks returns chunks of a batch, in the order of their numbers.
func (s *Store) Chunks(ctx context.Context, b int64, filter batch.ChunkFilter) ([]batch.Chunk, error) {
	var chunks []batch.Chunk
	if err := s.run(ctx, s.chunksCall(&chunks, b, filter, nil)); err != nil {
		return nil, fmt.Errorf("chunks: %w", err)
	}
	return chunks, nil
}

// passKinds are all that a chunk can be of.
var passKinds = []string{string(batch.PassForward), string(batch.PassRetry), string(batch.PassUndo), string(batch.PassThen)}

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
	after, kinds := filter.After, passKinds
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
