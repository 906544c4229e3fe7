package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead-io/fairlead/storetest"
)

// clearing empties a store's tables. look is a statement that counts jobs and lanes, and
// writes the statements that empty the tables which have rows: most have none.
type clearing struct{ look string }

// run empties the tables, and tells all stores that the limits have changed.
func (c *clearing) run(ctx context.Context, conn *pgx.Conn) error {
	if c.look == "" { // the tables are there by now
		if err := conn.QueryRow(ctx, writeClearing).Scan(&c.look); err != nil {
			return err
		}
	}
	var jobs, lanes int
	var remove string
	if err := conn.QueryRow(ctx, c.look).Scan(&jobs, &lanes, &remove); err != nil {
		return err
	}
	if err := storetest.TooMuch(jobs, lanes); err != nil {
		return err
	}
	_, err := conn.PgConn().Exec(ctx, remove).ReadAll()
	return err
}

// writeClearing writes the look for whatever tables there are. What
// stores remember for ever stays, as does the clock.
const writeClearing = `
	with tables as (
		select tablename as name, format('%I.%I', schemaname, tablename) as quoted from pg_tables
		where schemaname not in ('pg_catalog', 'information_schema')
	)
	select format('select (select count(*) from %s), (select count(*) from %s), concat_ws(''; '', %s)',
			max(quoted) filter (where name ~ '_job$'), max(quoted) filter (where name ~ '_lane$'),
			string_agg(case when name ~ '_rules$' then format('%L', 'update ' || quoted || ' set version = version + 1')
				else format('case when exists (select from %s) then %L end', quoted, 'delete from ' || quoted) end, ', ')
				filter (where name !~ '_(clock|migration|lane|secret|server)$'))
	from tables`
