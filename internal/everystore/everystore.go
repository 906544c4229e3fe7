// Package everystore runs a test on each database.
package everystore

import (
	"testing"

	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/mysql"
	"github.com/fairlead-io/fairlead/postgres"
	"github.com/fairlead-io/fairlead/sqlite"
)

// Run runs test with a new store in each database. The store must implement S, and test must
// close it. Query timeouts are long enough for a busy machine.
func Run[S any](t *testing.T, test func(t *testing.T, store S)) {
	t.Helper()
	for name, open := range map[string]func(t *testing.T) (any, error){
		"SQLite": func(t *testing.T) (any, error) {
			return sqlitetest.OpenWith(t, sqlite.Options{QueryTimeout: patience.Limit}), nil
		},
		"PostgreSQL": func(t *testing.T) (any, error) {
			return postgres.OpenWith(t.Context(), testdb.Postgres(t), postgres.Options{QueryTimeout: patience.Limit})
		},
		"MySQL": func(t *testing.T) (any, error) {
			return mysql.OpenWith(t.Context(), testdb.MySQL(t), mysql.Options{QueryTimeout: patience.Limit})
		},
	} {
		t.Run(name, func(t *testing.T) {
			store, err := open(t)
			if err != nil {
				t.Fatal(err)
			}
			test(t, store.(S))
		})
	}
}
