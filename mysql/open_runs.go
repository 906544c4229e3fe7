package mysql

import (
	"context"
	"database/sql"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// openWindow is the maximum number of open runs that one tick examines. If there are more,
// the process's next tick continues after them.
const openWindow = 4000

// LookAtOpenRuns implements sqlstore.Scheduling.
func (d database) LookAtOpenRuns(db sqlstore.DB, limit int) func(ctx context.Context) ([]int64, error) {
	after := d.openSeen.Load()
	var seen int
	var last sql.NullInt64
	db.QueueEach(func(row sqlstore.Scanner) error { return row.Scan(&seen, &last) }, d.sql.OpenWindow, after, openWindow)
	return func(ctx context.Context) (ended []int64, err error) {
		if seen > 0 {
			err = db.Each(ctx, func(row sqlstore.Scanner) error {
				var id int64
				err := row.Scan(&id)
				ended = append(ended, id)
				return err
			}, d.sql.EndedSchedules, after, last.Int64, limit+1)
		}
		switch {
		case err != nil || len(ended) > limit: // it looks here again
		case seen < openWindow:
			d.openSeen.Store(0)
		default:
			d.openSeen.Store(last.Int64)
		}
		return ended, err
	}
}
