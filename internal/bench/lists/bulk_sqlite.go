package lists

import (
	"context"
	"database/sql"
	"net/url"
	"strings"

	_ "modernc.org/sqlite" // the driver
)

type sqliteBulk struct{ db *sql.DB }

func openSQLite(path string) (*sqliteBulk, error) {
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?_pragma=busy_timeout(10000)&_pragma=synchronous(0)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return &sqliteBulk{db}, nil
}

// insert uses several statements, because SQLite limits the number of values in one.
func (b *sqliteBulk) insert(ctx context.Context, table string, columns []string, rows [][]any) error {
	tx, err := b.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // no effect after the commit
	const most = 500
	for len(rows) > 0 {
		n := min(most, len(rows))
		if _, err := tx.ExecContext(ctx, "insert into "+table+" ("+strings.Join(columns, ", ")+") values "+marks(n, len(columns)), flat(rows[:n])...); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return tx.Commit()
}

func (b *sqliteBulk) exec(ctx context.Context, statement string) error {
	_, err := b.db.ExecContext(ctx, statement)
	return err
}

func (b *sqliteBulk) afterJobs(ctx context.Context, last int64) error {
	_, err := b.db.ExecContext(ctx, "update "+prefix+"counter set value = ? where name = 'job'", last)
	return err
}

func (b *sqliteBulk) copySchedules(ctx context.Context, c scheduleCopy) error {
	const statement = "insert into " + prefix + "schedule (id, name, tenant, calendar, enabled, body, version, created_at, updated_at, due, fire_at) " +
		"select id + ?, replace(name, 'schedule-', ?), tenant, calendar, enabled, body, version, created_at, updated_at, due + ?, fire_at + ? " +
		"from " + prefix + "schedule where id <= ?"
	_, err := b.db.ExecContext(ctx, statement, c.shift, c.name, c.later, c.later, c.last)
	return err
}

// look does nothing, because the plans depend only on the statements.
func (b *sqliteBulk) look(context.Context) error { return nil }

func (b *sqliteBulk) fires() ([]string, []any) {
	return []string{"job", "schedule", "due", "source", "number", "made_by", "skip", "queued", "open", "state", "ended_at"}, []any{0, 0, "", 0}
}

// Close closes the connection.
func (b *sqliteBulk) Close() error { return b.db.Close() }
