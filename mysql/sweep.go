package mysql

import (
	"context"
	"math"
	"strings"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/sweep"
)

var _ sweep.Store = (*Store)(nil)

// ReadSweeps implements sqlstore.SweepDialect. The sums take a statement of their own:
// MariaDB cannot join a subquery for each sweep that was chosen.
func (d database) ReadSweeps(ctx context.Context, db sqlstore.DB, filter sweep.Filter) ([]sweep.Record, error) {
	below := filter.Below
	if below == 0 {
		below = math.MaxInt64
	}
	text := fill(d.Store.sql.Sweeps, "id", decimal(below), "named", chosenSweeps(filter), "limit", decimal(sqlstore.SweepPage(filter)))
	sweeps, err := sqlstore.ReadSweepRows(ctx, db, text)
	if err == nil {
		err = sqlstore.SumSweeps(ctx, db, sweeps, d.Store.sql.SweepSums)
	}
	return sweeps, err
}

// IsTaken implements sqlstore.SweepDialect.
func (database) IsTaken(err error) bool { return isDuplicate(err) }

// chosenSweeps are the conditions of a filter.
func chosenSweeps(filter sweep.Filter) string {
	var conditions strings.Builder
	if len(filter.IDs) > 0 {
		conditions.WriteString(" and id in (" + idList(filter.IDs) + ")")
	}
	states := make([]string, len(filter.States))
	for i, state := range filter.States {
		states[i] = string(state)
	}
	for _, of := range []struct {
		column string
		names  []string
	}{{"name", filter.Names}, {"state", states}, {"tenant", filter.Tenants}} {
		if len(of.names) > 0 {
			conditions.WriteString(" and " + of.column + " in (" + nameList(of.names) + ")")
		}
	}
	return conditions.String()
}
