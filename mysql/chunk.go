package mysql

import (
	"math"
	"strings"

	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// ChosenChunks implements sqlstore.ConductDialect. The filter becomes part of the text, which
// says which index it uses.
func (d database) ChosenChunks(batchID int64, filter batch.ChunkFilter, known sqlstore.List[int64]) (string, []any) {
	if len(known) == 0 {
		known = sqlstore.List[int64]{0} // which no chunk has: a list must not be empty
	}
	return fill(d.Store.chosenChunks(batchID, filter), "known", idList(known)), nil
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
