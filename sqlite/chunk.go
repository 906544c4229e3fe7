package sqlite

import (
	"context"
	"strconv"
	"strings"

	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// newChunk is a chunk as it is going to be stored: the caller's own may change once
// the caller has given up waiting.
type newChunk struct {
	batch.Chunk
	marks, tasks string
}

// AddChunks stores chunks of a batch.
func (s *Store) AddChunks(ctx context.Context, batch int64, chunks []batch.Chunk) error {
	if len(chunks) == 0 {
		return nil
	}
	fresh, err := newChunks(chunks)
	if err != nil {
		return err
	}
	firsts, err := inTx(ctx, s, "add chunks", func(t *txn) ([]int64, error) { return t.addChunks(batch, fresh) })
	for i, first := range firsts {
		chunks[i].Batch, chunks[i].First = batch, first
	}
	return err
}

func newChunks(chunks []batch.Chunk) ([]newChunk, error) {
	fresh := make([]newChunk, len(chunks))
	for i := range chunks {
		marks, err := sqlstore.EncodeMarks(&chunks[i].Marks)
		if err != nil {
			return nil, err
		}
		tasks, err := sqlstore.EncodeTasks(&chunks[i])
		if err != nil {
			return nil, err
		}
		fresh[i] = newChunk{Chunk: chunks[i], marks: string(marks), tasks: string(tasks)}
	}
	return fresh, nil
}

func (t *txn) addChunks(batch int64, chunks []newChunk) ([]int64, error) {
	if _, err := t.batch(batch); err != nil {
		return nil, err
	}
	numbers := make([]int, len(chunks))
	for i := range chunks {
		numbers[i] = chunks[i].Number
	}
	var taken int
	if found, err := t.one(t.sql.ChunkTaken, []any{batch, jsonOf(numbers)}, &taken); err != nil || found {
		if found {
			err = sqlstore.ChunkTaken(batch, taken)
		}
		return nil, err
	}
	firsts := make([]int64, len(chunks))
	for i := range chunks {
		p := &chunks[i]
		first, err := t.next(jobCounter, int64(p.Size)) // set aside
		if err != nil {
			return nil, err
		}
		firsts[i] = first
		if err := t.must(1, t.sql.AddChunk, batch, p.Number, p.Pass, string(p.Kind), first, p.Size, p.Held, p.Out, p.marks); err != nil {
			return nil, err
		}
		if err := t.must(1, t.sql.AddTasks, batch, p.Number, p.tasks); err != nil {
			return nil, err
		}
	}
	return firsts, nil
}

// DropChunks removes the chunks of a pass.
func (s *Store) DropChunks(ctx context.Context, batch int64, pass int) error {
	_, err := inTx(ctx, s, "drop chunks", func(t *txn) (none, error) {
		if _, err := t.exec(t.sql.DropTasks, batch, pass); err != nil {
			return none{}, err
		}
		_, err := t.exec(t.sql.DropChunks, batch, pass)
		return none{}, err
	})
	return err
}

// Chunks returns chunks of a batch.
func (s *Store) Chunks(ctx context.Context, b int64, filter batch.ChunkFilter) ([]batch.Chunk, error) {
	return read(ctx, s, "list chunks", func(t *txn) ([]batch.Chunk, error) { return t.chunks(b, filter) })
}

func (t *txn) chunks(b int64, filter batch.ChunkFilter) ([]batch.Chunk, error) {
	query, args := t.sql.chunksQuery(b, filter)
	var chunks []batch.Chunk
	err := t.each(query, args, func(row sqlstore.Scanner) error {
		chunk, err := sqlstore.ScanChunk(row, filter.Tasks)
		chunks = append(chunks, chunk)
		return err
	})
	return chunks, err
}

// chunksQuery reads the chunks that match. Its conditions are worded as those of the
// indexes are.
func (s *statements) chunksQuery(batch int64, filter batch.ChunkFilter) (query string, args []any) {
	query = s.Chunks
	if filter.Tasks {
		query = s.ChunksTasks
	}
	conditions, args := []string{"p.batch = ?"}, []any{batch}
	add := func(condition string, arg ...any) {
		conditions, args = append(conditions, condition), append(args, arg...)
	}
	if len(filter.Numbers) > 0 {
		add("p.number in (select value from json_each(?))", jsonOf(filter.Numbers))
	}
	if filter.After != 0 {
		add("p.number > ?", filter.After)
	}
	if filter.Held {
		add("p.held > 0")
	}
	if filter.Out {
		add("p.out > 0")
	}
	if filter.Kind != "" {
		add("p.kind = ?", string(filter.Kind))
	}
	query += " where " + strings.Join(conditions, " and ") + " order by p.number"
	if filter.Limit > 0 {
		query += " limit " + strconv.Itoa(filter.Limit)
	}
	return query, args
}
