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
