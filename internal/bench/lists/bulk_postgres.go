package lists

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

type postgresBulk struct{ conn *pgx.Conn }

func openPostgres(ctx context.Context, url string) (*postgresBulk, error) {
	pool, err := pgxpool.ParseConfig(url) // the URL may contain settings that only a pool accepts
	if err != nil {
		return nil, err
	}
	conn, err := pgx.ConnectConfig(ctx, pool.ConnConfig)
	return &postgresBulk{conn}, err
}

func (b *postgresBulk) insert(ctx context.Context, table string, columns []string, rows [][]any) error {
	_, err := b.conn.CopyFrom(ctx, pgx.Identifier{table}, columns, pgx.CopyFromRows(rows))
	return err
}

func (b *postgresBulk) exec(ctx context.Context, statement string) error {
	_, err := b.conn.Exec(ctx, statement)
	return err
}

func (b *postgresBulk) afterJobs(ctx context.Context, last int64) error {
	if _, err := b.conn.Exec(ctx, "select setval('"+prefix+"jobid', $1::bigint)", last+1000); err != nil {
		return fmt.Errorf("set the next id: %w", err)
	}
	return b.exec(ctx, "select setval(pg_get_serial_sequence('"+prefix+"lane', 'id'), (select max(id) from "+prefix+"lane))")
}

func (b *postgresBulk) copySchedules(ctx context.Context, c scheduleCopy) error {
	const schedules = "insert into " + prefix + "schedule (id, version, created_at, updated_at, deleted_at, lane, name, tenant, calendar, body) " +
		"select id + $2::bigint, version, created_at, updated_at, deleted_at, lane, replace(name, 'schedule-', $3::text), tenant, calendar, body " +
		"from " + prefix + "schedule where id <= $1::bigint"
	if _, err := b.conn.Exec(ctx, schedules, c.last, c.shift, c.name); err != nil {
		return fmt.Errorf("copy schedules: %w", err)
	}
	const cursors = "insert into " + prefix + "cursor (schedule, due, fire_at, last_job, last_due, last_ended_at, last_number, enabled, skipped, last_trigger, last_state) " +
		"select schedule + $2::bigint, due + $3::bigint, fire_at + $3::bigint, last_job, last_due, last_ended_at, last_number, enabled, skipped, last_trigger, last_state " +
		"from " + prefix + "cursor where schedule <= $1::bigint"
	if _, err := b.conn.Exec(ctx, cursors, c.last, c.shift, c.later); err != nil {
		return fmt.Errorf("copy cursors: %w", err)
	}
	return nil
}

func (b *postgresBulk) look(ctx context.Context) error { return b.exec(ctx, "vacuum analyze") }

func (b *postgresBulk) fires() ([]string, []any) {
	return []string{"job", "schedule", "due", "source", "number", "trigger", "skip"}, nil
}

// Close closes the connection.
func (b *postgresBulk) Close() error { return b.conn.Close(context.Background()) }
