package postgres

import (
	"math"

	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// ChosenChunks implements sqlstore.ConductDialect. Each combination of filters needs a statement
// with a known plan.
func (d database) ChosenChunks(batchID int64, filter batch.ChunkFilter, known sqlstore.List[int64]) (string, []any) {
	sql := &d.Store.sql
	text := sql.ChunksOfAll
	switch {
	case len(filter.Numbers) > 0:
		text = sql.ChunksByNumber
	case filter.Held:
		text = sql.ChunksHeld
	case filter.Out:
		text = sql.ChunksOut
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
	return text, []any{batchID, after, limit, kinds, distinct(filter.Numbers), filter.Held, filter.Out, filter.Tasks, known}
}
