package sqlite

import (
	"strconv"
	"strings"

	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// ChosenChunks implements sqlstore.ConductDialect. SQLite plans a statement before it knows
// the arguments, so conditions that the filter does not need are left out. They are worded as
// those of the indexes are.
func (d database) ChosenChunks(batchID int64, filter batch.ChunkFilter, _ sqlstore.List[int64]) (query string, args []any) {
	query = d.Store.sql.Chunks
	if filter.Tasks {
		query = d.Store.sql.ChunksTasks
	}
	conditions, args := []string{"p.batch = ?"}, []any{batchID}
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
