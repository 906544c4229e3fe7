package mysql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/fairlead-io/fairlead/internal/reads"
)

// measured runs a query on a separate connection and adds up how many rows it has read,
// according to the server's session counters.
func measured(ctx context.Context, db *sql.DB, meter *reads.Meter, ask func(q querier) error) (err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	before, err := rowsRead(ctx, conn)
	if err != nil {
		return err
	}
	if err := ask(conn); err != nil {
		return err
	}
	after, err := rowsRead(ctx, conn)
	if err != nil {
		return err
	}
	// Reading the counters reads rows too, the same number each time.
	again, err := rowsRead(ctx, conn)
	meter.Add(after - before - (again - after))
	return err
}

func rowsRead(ctx context.Context, q querier) (read int64, err error) {
	answer, err := q.QueryContext(ctx, "show session status like 'Handler\\_read\\_%'")
	if err != nil {
		return 0, err
	}
	err = scanAll(answer, func(row *sql.Rows) error {
		var name string
		var n int64
		if err := row.Scan(&name, &n); err != nil {
			return fmt.Errorf("read the session's counters: %w", err)
		}
		read += n
		return nil
	})
	return read, err
}
