package testdb_test

import (
	"context"
	"testing"

	"github.com/fairlead-io/fairlead/internal/testdb"
)

func TestATemplateIsFilledOnceAndCopiedWithItsRows(t *testing.T) {
	for name, database := range map[string]func(*testdb.Template, testing.TB) string{
		"postgres": (*testdb.Template).Postgres,
		"mysql":    (*testdb.Template).MySQL,
	} {
		t.Run(name, func(t *testing.T) {
			filled := 0
			template := &testdb.Template{Fill: func(_ context.Context, url string) error {
				filled++
				db := open(t, url)
				mustExec(t, db, "create table empty_table (n int primary key, twice int generated always as (2 * n) stored)")
				mustExec(t, db, "create table numbers as select 7 as n")
				mustExec(t, db, "create view larger as select n + 1 as n from numbers")
				return db.Close()
			}}
			t.Cleanup(func() {
				if err := template.Drop(); err != nil {
					t.Error(err)
				}
			})
			first, second := open(t, database(template, t)), open(t, database(template, t))
			mustExec(t, first, "drop view larger")
			mustExec(t, first, "drop table numbers")
			var n int
			if err := second.QueryRowContext(t.Context(), "select n from larger").Scan(&n); err != nil || n != 8 {
				t.Errorf("the second copy has %d, %v", n, err)
			}
			mustExec(t, second, "insert into empty_table (n) select n from numbers")
			if filled != 1 {
				t.Errorf("filled %d times", filled)
			}
		})
	}
}

func TestATemplateThatNobodyAskedForIsNotDropped(t *testing.T) {
	if err := new(testdb.Template).Drop(); err != nil {
		t.Error(err)
	}
}
