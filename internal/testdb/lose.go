package testdb

import (
	"database/sql"
	"testing"
)

// Lose removes a job from SQLite in a way that no method of a store does, like a careless
// operator or a damaged table.
func Lose(t testing.TB, store any, job int64) {
	t.Helper()
	db := store.(interface{ DB() *sql.DB }).DB()
	for _, table := range []string{"later", "ready", "running", "waiting", "done", "job"} {
		if _, err := db.ExecContext(t.Context(), "delete from fairlead_"+table+" where id = ?", job); err != nil {
			t.Fatal(err)
		}
	}
}
