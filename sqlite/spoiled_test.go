package sqlite_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/fairlead-io/fairlead/sqlite"
	"github.com/fairlead-io/fairlead/storetest"
)

func TestAScheduleThatCannotBeReadHoldsUpNoOther(t *testing.T) {
	file := filepath.Join(t.TempDir(), "jobs.db")
	storetest.RunSpoiled(t, open(t, "sqlite://"+file, sqlite.Options{}), func(t *testing.T, schedule int64) {
		db, err := sql.Open("sqlite", file)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.ExecContext(t.Context(), "update fairlead_schedule set body = '{' where id = ?", schedule); err != nil {
			t.Fatal(err)
		}
	})
}

func TestNoVerbPanicsIfTheDatabaseBreaks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "jobs.db")
	store := open(t, "sqlite://"+file, sqlite.Options{})
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), "select name from sqlite_schema where type = 'table' and name like 'fairlead%'")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var tables []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		tables = append(tables, name)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	storetest.RunBroken(t, store, tables, func(t *testing.T, table, to string) {
		if _, err := db.ExecContext(t.Context(), "alter table "+table+" rename to "+to); err != nil {
			t.Fatal(err)
		}
	})
}
