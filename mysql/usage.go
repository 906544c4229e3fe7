package mysql

import (
	"context"
	"database/sql"

	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// mostForgotten is how many rows one report removes: as many as it may add, and
// more.
const mostForgotten = 2 * chunkTuples

// Report adds starts to the stored counts of started jobs.
func (s *Store) Report(ctx context.Context, starts []driver.Starts) error {
	if err := s.features.Report(ctx, starts); err != nil || len(starts) == 0 {
		return err
	}
	return s.forgetStarts(ctx)
}

// forgetStarts removes what is too old to be asked for. It is a transaction of
// its own: with what is added it would lock more than one bucket.
func (s *Store) forgetStarts(ctx context.Context) error {
	return s.inTx(ctx, "report", func(ctx context.Context, t *txn) error {
		now, err := t.clock(ctx)
		if err != nil {
			return err
		}
		var old tuples
		found := 0
		err = t.each(ctx, func(row *sql.Rows) error {
			var at int64
			var tenant string
			err := row.Scan(&at, &tenant)
			old.add().ints(at).str(tenant).end()
			found++
			return err
		}, t.sql.OldStarts, sqlstore.OldestBucket(now), mostForgotten)
		if err != nil || found == 0 {
			return err
		}
		_, err = t.execRows(ctx, t.sql.DropStarts, &old)
		return err
	})
}
