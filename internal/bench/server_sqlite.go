package bench

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"strings"

	_ "modernc.org/sqlite" // the driver of the snapshot's connection
)

// sqliteServer stands in for a server: SQLite's work is done by the client.
type sqliteServer struct {
	url string
}

// Name implements Server.
func (s *sqliteServer) Name() string { return "sqlite" }

// Usage implements Server. The log is truncated repeatedly, so its size is meaningless:
// Usage counts everything written by this process, most of which is the log.
func (s *sqliteServer) Usage(context.Context) (Usage, error) { return Usage{WAL: bytesWritten()}, nil }

// HoldSnapshot implements Server. The log cannot be checkpointed beyond the snapshot, and
// grows.
func (s *sqliteServer) HoldSnapshot(ctx context.Context) (func() error, error) {
	path := strings.TrimPrefix(s.url, "sqlite://")
	if path == ":memory:" {
		return nil, errors.New("a database in memory has one connection and no room for a second transaction")
	}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?mode=ro")
	if err != nil {
		return nil, err
	}
	tx, err := db.BeginTx(context.WithoutCancel(ctx), nil)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	release := func() error { return errors.Join(tx.Rollback(), db.Close()) }
	var tables int
	if err := tx.QueryRowContext(ctx, "select count(*) from sqlite_master").Scan(&tables); err != nil {
		return nil, errors.Join(err, release())
	}
	return release, nil
}

// Close implements Server.
func (s *sqliteServer) Close() error { return nil }
