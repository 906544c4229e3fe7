package sqlite

import (
	"context"
	"database/sql"
	"errors"

	driver "modernc.org/sqlite"

	"github.com/fairlead-io/fairlead/internal/reads"
)

// measured runs a function that only reads on a separate connection and adds up the
// pages that it has read.
func measured[T any](ctx context.Context, s *Store, meter *reads.Meter, t *txn, f func(t *txn) (T, error)) (result T, err error) {
	conn, err := s.readers.Conn(ctx)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	before, err := pagesRead(conn)
	if err != nil {
		return result, err
	}
	t.run = conn
	if result, err = f(t); err != nil {
		return result, err
	}
	after, err := pagesRead(conn)
	meter.Add(after - before)
	return result, err
}

func pagesRead(conn *sql.Conn) (pages int64, err error) {
	err = conn.Raw(func(raw any) error {
		for _, op := range []driver.DBStatusOp{driver.DBStatusCacheHit, driver.DBStatusCacheMiss} {
			n, _, err := raw.(driver.DBStatus).Status(op, false)
			if err != nil {
				return err
			}
			pages += int64(n)
		}
		return nil
	})
	return pages, err
}
