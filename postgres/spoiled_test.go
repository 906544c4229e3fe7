package postgres

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead-io/fairlead/storetest"
)

// A schedule that cannot be read holds up no other.
func TestSpoiledSchedule(t *testing.T) {
	s := open(t, migrated.Postgres(t), Options{})
	storetest.RunSpoiled(t, s, func(t *testing.T, schedule int64) {
		if _, err := s.pool.Exec(t.Context(), "update "+s.query.Expand("schedule")+` set body = '{"cron":[1]}' where id = $1`, schedule); err != nil {
			t.Fatal(err)
		}
	})
}

// Whatever table is missing, verbs fail, and nothing panics.
func TestNoVerbPanicsIfTheDatabaseBreaks(t *testing.T) {
	s := open(t, migrated.Postgres(t), Options{})
	rows, err := s.pool.Query(t.Context(), "select table_name from information_schema.tables where table_schema = current_schema()")
	if err != nil {
		t.Fatal(err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	storetest.RunBroken(t, s, tables, func(t *testing.T, table, to string) {
		if _, err := s.pool.Exec(t.Context(), "alter table "+table+" rename to "+to); err != nil {
			t.Fatal(err)
		}
	})
}
