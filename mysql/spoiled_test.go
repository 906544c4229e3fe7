package mysql

import (
	"database/sql"
	"testing"

	"github.com/fairlead-io/fairlead/storetest"
)

// TestSpoiledSchedule checks that a schedule which cannot be read holds up no other.
func TestSpoiledSchedule(t *testing.T) {
	s, _ := openWithNode(t, Migrated.MySQL(t))
	storetest.RunSpoiled(t, s, func(t *testing.T, schedule int64) {
		if _, err := s.db.ExecContext(t.Context(), "update "+s.expand("schedule")+" set body = '{\"cron\":' where id = ?", schedule); err != nil {
			t.Fatal(err)
		}
	})
}

// TestNoVerbPanicsIfTheDatabaseBreaks takes one table after the other away.
func TestNoVerbPanicsIfTheDatabaseBreaks(t *testing.T) {
	s, _ := openWithNode(t, Migrated.MySQL(t))
	var tables []string
	note := func(row *sql.Rows) error {
		tables = append(tables, "")
		return row.Scan(&tables[len(tables)-1])
	}
	if err := each(t.Context(), s.db, note, "select table_name from information_schema.tables where table_schema = database()"); err != nil {
		t.Fatal(err)
	}
	storetest.RunBroken(t, s, tables, func(t *testing.T, table, to string) {
		if _, err := s.db.ExecContext(t.Context(), "rename table "+table+" to "+to); err != nil {
			t.Fatal(err)
		}
	})
}
