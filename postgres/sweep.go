package postgres

import (
	"context"
	"math"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/sweep"
)

var _ sweep.Store = (*Store)(nil)

// ReadSweeps implements sqlstore.SweepDialect, in one statement: each way to choose sweeps
// has a text whose plan is known.
func (d database) ReadSweeps(ctx context.Context, db sqlstore.DB, filter sweep.Filter) (sweeps []sweep.Record, err error) {
	sql := &d.Store.sql
	text, below := sql.SweepsOfAll, filter.Below
	switch {
	case len(filter.IDs) > 0:
		text = sql.SweepsByID
	case len(filter.Names) > 0:
		text = sql.SweepsByName
	case len(filter.States) > 0:
		text = sql.SweepsByState
	case len(filter.Tenants) > 0:
		text = sql.SweepsByTenant
	}
	if below == 0 {
		below = math.MaxInt64
	}
	states := make([]string, len(filter.States))
	for i, state := range filter.States {
		states[i] = string(state)
	}
	err = db.Each(ctx, sqlstore.Collect(ctx, &sweeps, func(row sqlstore.Scanner) (sweep.Record, error) {
		var sums sweep.Progress
		sweep, err := sqlstore.ScanSweep(sqlstore.LongerRow(row, &sums.Total, &sums.Marked, &sums.Done, &sums.Abandoned, &sums.Again, &sums.Errors, &sums.InWindow, &sums.Rate))
		sqlstore.SetSums(&sweep, sums)
		return sweep, err
	}), text, below, sqlstore.SweepPage(filter), distinct(filter.IDs), distinct(filter.Names), distinct(states), distinct(filter.Tenants))
	return sweeps, err
}

// IsTaken implements sqlstore.SweepDialect.
func (database) IsTaken(err error) bool { return nameTaken(err) }

// longerRow is a row with more columns behind those that its reader knows of.
type longerRow struct {
	sqlstore.Scanner
	rest []any
}

// Scan implements sqlstore.Scanner.
func (r longerRow) Scan(into ...any) error { return r.Scanner.Scan(append(into, r.rest...)...) }
