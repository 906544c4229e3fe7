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

// Run runs a test with a new store of each database, which must implement S. The test
// closes the store. Query timeouts are long enough for busy machines.
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
