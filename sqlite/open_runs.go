package sqlite

import (
	"context"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// LookAtOpenRuns implements sqlstore.Scheduling. It looks at every open run, but outside the
// write transaction.
func (d database) LookAtOpenRuns(db sqlstore.DB, limit int) func(ctx context.Context) ([]int64, error) {
	var ended []int64
	db.QueueEach(func(row sqlstore.Scanner) error {
		var id int64
		err := row.Scan(&id)
		ended = append(ended, id)
		return err
	}, d.sql.EndedSchedules, limit+1)
	return func(context.Context) ([]int64, error) { return ended, nil }
}
