package lists

import (
	"context"
	"database/sql"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/fairlead-io/fairlead/internal/mysqlurl"
)

type mysqlBulk struct{ db *sql.DB }

func openMySQL(url string) (*mysqlBulk, error) {
	config, err := mysqlurl.Parse(url)
	if err != nil {
		return nil, err
	}
	config.InterpolateParams = true // avoids preparing statements with thousands of values for a single use
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(1)
	return &mysqlBulk{db}, nil
}

func (b *mysqlBulk) insert(ctx context.Context, table string, columns []string, rows [][]any) error {
	_, err := b.db.ExecContext(ctx, "insert into "+table+" ("+strings.Join(columns, ", ")+") values "+marks(len(rows), len(columns)), flat(rows)...)
	return err
}

func (b *mysqlBulk) exec(ctx context.Context, statement string) error {
	_, err := b.db.ExecContext(ctx, statement)
	return err
}

func (b *mysqlBulk) afterJobs(ctx context.Context, last int64) error {
	_, err := b.db.ExecContext(ctx, "update "+prefix+"counter set value = ? where name = 'job'", last)
	return err
}

func (b *mysqlBulk) copySchedules(ctx context.Context, c scheduleCopy) error {
	const statement = "insert into " + prefix + "schedule (id, name, tenant, calendar, enabled, body, version, created_at, updated_at, due, fire_at, next_fire) " +
		"select id + ?, replace(name, 'schedule-', ?), tenant, calendar, enabled, body, version, created_at, updated_at, due + ?, fire_at + ?, next_fire + ? " +
		"from " + prefix + "schedule where id <= ?"
	_, err := b.db.ExecContext(ctx, statement, c.shift, c.name, c.later, c.later, c.later, c.last)
	return err
}

func (b *mysqlBulk) look(ctx context.Context) error {
	return b.exec(ctx, "analyze table "+prefix+"job, "+prefix+"done, "+prefix+"audit, "+prefix+"schedule")
}

func (b *mysqlBulk) fires() ([]string, []any) {
	return []string{"id", "schedule", "due", "source", "number", "cause", "skip"}, nil
}

// Close closes the connection.
func (b *mysqlBulk) Close() error { return b.db.Close() }
