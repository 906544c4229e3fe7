package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead-io/fairlead/storetest"
)

// clearing is the statements that empty a store's tables.
type clearing struct{ count, remove string }

// run empties the tables in one round trip, and tells all stores that the
// rules have changed.
func (c *clearing) run(ctx context.Context, conn *pgx.Conn) error {
	if c.remove == "" { // the tables are there by now
		if err := conn.QueryRow(ctx, writeClearing).Scan(&c.count, &c.remove); err != nil {
			return err
		}
	}
	var jobs, lanes int
	if err := conn.QueryRow(ctx, c.count).Scan(&jobs, &lanes); err != nil {
		return err
	}
	if err := storetest.TooMuch(jobs, lanes); err != nil {
		return err
	}
	_, err := conn.PgConn().Exec(ctx, c.remove).ReadAll()
	return err
}

// writeClearing writes the statements for whatever tables there are. What
// stores remember for ever stays, as does the clock.
const writeClearing = `
	with tables as (
		select tablename as name, format('%I.%I', schemaname, tablename) as quoted from pg_tables
		where schemaname not in ('pg_catalog', 'information_schema')
	)
	select format('select (select count(*) from %s), (select count(*) from %s)',
			max(quoted) filter (where name ~ '_job$'), max(quoted) filter (where name ~ '_lane$')),
		string_agg(case when name ~ '_rules$' then 'update ' || quoted || ' set version = version + 1' else 'delete from ' || quoted end, '; ')
			filter (where name !~ '_(clock|migration|lane|secret|server)$')
	from tables`
