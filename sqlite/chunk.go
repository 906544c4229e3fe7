package sqlite

import (
	"context"
	"strconv"
	"strings"

	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Chunks returns the matching chunks of a batch, ordered by number. Unlike most queries, it is
// not shared between stores. SQLite plans a query before it knows the arguments, so Chunks
// omits conditions that the filter does not need.
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
