package tables_test

import (
	"database/sql"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/cmd/fairlead/internal/tables"
	"github.com/fairlead-io/fairlead/internal/source"
)

func TestAFileIsOnlyRead(t *testing.T) {
	for _, name := range []string{"in use", "at rest"} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "people ?#.db")
			owner, err := sql.Open("sqlite", "file:"+strings.NewReplacer("?", "%3f", "#", "%23").Replace(file)+"?_pragma=journal_mode(wal)")
			if err != nil {
				t.Fatal(err)
			}
			defer owner.Close()
			if _, err := owner.ExecContext(t.Context(), "CREATE TABLE people (id INTEGER PRIMARY KEY); INSERT INTO people VALUES (3), (8)"); err != nil {
				t.Fatal(err)
			}
			if name == "at rest" {
				if err := owner.Close(); err != nil {
					t.Fatal(err)
				}
			}
			databases, err := tables.Open(map[string]string{"crm": "sqlite://" + file})
			if err != nil {
				t.Fatal(err)
			}
			defer databases.Close()
			if names := databases.Names(); !slices.Equal(names, []string{"crm"}) {
				t.Errorf("the names are %v", names)
			}
			crm := databases.Sources()["crm"]
			table, err := source.OpenTable(crm.Querier, source.TableOptions{Dialect: crm.Dialect, Table: "people", Key: "id"})
			if err != nil {
				t.Fatal(err)
			}
			if from, to, err := table.Bounds(t.Context()); err != nil || from != 3 || to != 9 {
				t.Errorf("the bounds are %d and %d: %v", from, to, err)
			}
			if _, err := crm.Querier.(*sql.DB).ExecContext(t.Context(), "DELETE FROM people"); err == nil {
				t.Error("rows can be deleted")
			}
		})
	}
}
