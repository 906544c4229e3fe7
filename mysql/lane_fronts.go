package mysql

import (
	"context"
	"database/sql"
	"slices"

	"github.com/fairlead-io/fairlead/internal/dispatch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

const (
	// frontSize is how many jobs at the front of a lane can be read at a fraction of
	// the cost of reading more.
	frontSize = 2
	// frontsPerQuestion is how many lanes one statement reads.
	frontsPerQuestion = 1000
)

// readFronts reads the first jobs of lanes by a statement that returns size of each.
func (c *claimer) readFronts(ctx context.Context, statement string, size int, lanes []int32, each func(i int, keys []dispatch.Key)) error {
	var position int
	var texts [frontSize]sql.RawBytes
	keys, into := make([]dispatch.Key, 0, frontSize), []any{&position, &texts[0], &texts[1]}[:1+size]
	before := 0
	for chunk := range slices.Chunk(lanes, frontsPerQuestion) {
		list := make([]int64, len(chunk))
		for i, lane := range chunk {
			list[i] = int64(lane)
		}
		err := c.each(ctx, func(row *sql.Rows) error {
			if err := row.Scan(into...); err != nil {
				return err
			}
			keys = keys[:0]
			for _, text := range texts[:size] {
				if text == nil {
					break
				}
				key, err := sqlstore.ParseKey(text)
				if err != nil {
					return err
				}
				keys = append(keys, key)
			}
			each(before+position-1, keys)
			return nil
		}, fill(statement, "solo", c.solo(), "ids", idList(list)))
		if err != nil {
			return err
		}
		before += len(chunk)
	}
	return nil
}
