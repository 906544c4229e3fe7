package source_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"
	"pgregory.net/rapid"

	"github.com/fairlead-io/fairlead/internal/source"
	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/internal/tier"
)

func openSQLite(t *testing.T) *sql.DB {
	t.Helper()
	return openDB(t, "sqlite", filepath.Join(t.TempDir(), "rows.db"))
}

func openDB(t *testing.T, driver, address string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func exec(t interface {
	Helper()
	Fatalf(string, ...any)
}, db *sql.DB, statements ...string,
) {
	t.Helper()
	for _, statement := range statements {
		if _, err := db.ExecContext(context.Background(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

func TestRowsOfEachDatabase(t *testing.T) {
	const insert = "INSERT INTO users VALUES (-5, 'neg', 1.5, NULL), (0, 'zero <b>', 2, '{\"a\": [1]}'), (1000000000000, 'big', 0.25, '{}')"
	for name, open := range map[string]func(t *testing.T) (*sql.DB, source.Dialect){
		"SQLite": func(t *testing.T) (*sql.DB, source.Dialect) {
			db := openSQLite(t)
			exec(t, db, `CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, "order" REAL, extra TEXT)`, insert)
			return db, source.SQLite
		},
		"PostgreSQL": func(t *testing.T) (*sql.DB, source.Dialect) {
			db := openDB(t, "pgx", testdb.Postgres(t))
			exec(t, db, `CREATE TABLE users (id bigint PRIMARY KEY, name text, "order" float8, extra jsonb)`, insert)
			return db, source.Postgres
		},
		"MariaDB": func(t *testing.T) (*sql.DB, source.Dialect) {
			parsed, err := url.Parse(testdb.MySQL(t))
			if err != nil {
				t.Fatal(err)
			}
			config := mysql.NewConfig()
			config.Net, config.Addr, config.User, config.DBName = "tcp", parsed.Host, parsed.User.Username(), strings.TrimPrefix(parsed.Path, "/")
			db := openDB(t, "mysql", config.FormatDSN())
			exec(t, db, "CREATE TABLE users (id BIGINT PRIMARY KEY, name TEXT, `order` DOUBLE, extra JSON)", insert)
			return db, source.MySQL
		},
	} {
		t.Run(name, func(t *testing.T) {
			db, dialect := open(t)
			table, err := source.OpenTable(db, source.TableOptions{Dialect: dialect, Table: "users", Key: "id", Columns: []string{"name", "order", "extra"}})
			if err != nil {
				t.Fatal(err)
			}
			from, to, err := table.Bounds(t.Context())
			if err != nil || from != -5 || to != 1000000000001 {
				t.Fatalf("the bounds are %d and %d: %v", from, to, err)
			}
			items := make([]source.Item, 10)
			n, next, err := table.Read(t.Context(), from, to, items)
			if err != nil || n != 3 || next != to {
				t.Fatalf("%d rows up to %d: %v", n, next, err)
			}
			for i, want := range []map[string]any{
				{"id": -5.0, "name": "neg", "order": 1.5, "extra": nil},
				{"id": 0.0, "name": "zero <b>", "order": 2.0},
				{"id": 1e12, "name": "big", "order": 0.25},
			} {
				var got map[string]any
				if err := json.Unmarshal(items[i].Data, &got); err != nil {
					t.Fatalf("%s: %v", items[i].Data, err)
				}
				for column, value := range want {
					if got[column] != value || len(got) != 4 {
						t.Errorf("row %d is %s, want %v", i, items[i].Data, want)
					}
				}
			}
			if next, err := table.Next(t.Context(), 1, to); err != nil || next != 1000000000000 {
				t.Errorf("the row after 1 is %d: %v", next, err)
			}
		})
	}
}

// Any range of any set of keys is read with the same result as from a plain list.
func TestAnyPartOfATableCanBeRead(t *testing.T) {
	db := openSQLite(t)
	exec(t, db, "CREATE TABLE list (id INTEGER PRIMARY KEY, name TEXT)")
	t.Attr(tier.LongAttr, "rapid draws five times as many cases")
	rapid.Check(t, func(t *rapid.T) {
		exec(t, db, "DELETE FROM list")
		step := rapid.Int64Range(1, 5).Draw(t, "step")
		n := rapid.Int64Range(0, 700).Draw(t, "rows") // more than are read ahead at once
		first := rapid.Int64Range(-100, 100).Draw(t, "first")
		exec(t, db, fmt.Sprintf("INSERT INTO list WITH RECURSIVE c(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM c WHERE i+1 < %d) SELECT %d + i*%d, 'name ' || i FROM c WHERE %d > 0", n, first, step, n))
		var keys []int64
		for i := range n {
			keys = append(keys, first+i*step)
		}
		table, err := source.OpenTable(db, source.TableOptions{Dialect: source.SQLite, Table: "list", Key: "id"})
		if err != nil {
			t.Fatal(err)
		}
		at := first - 3
		for range rapid.IntRange(1, 30).Draw(t, "reads") {
			if rapid.IntRange(0, 3).Draw(t, "jump") == 0 {
				at = first + rapid.Int64Range(-10, n*step+10).Draw(t, "at")
			}
			to := at + rapid.Int64Range(0, 400).Draw(t, "length")
			items := make([]source.Item, rapid.IntRange(1, 300).Draw(t, "most"))
			got, next, err := table.Read(context.Background(), at, to, items)
			if err != nil {
				t.Fatal(err)
			}
			start, _ := slices.BinarySearch(keys, at)
			for i, item := range items[:got] {
				if item.Index != keys[start+i] || item.Index >= to {
					t.Fatalf("row %d from %d is %d, want %d", i, at, item.Index, keys[start+i])
				}
			}
			if next < at || next > to || next == at && to > at {
				t.Fatalf("[%d, %d) was read up to %d", at, to, next)
			}
			if end, _ := slices.BinarySearch(keys, next); end-start != got {
				t.Fatalf("%d rows up to %d, want %d", got, next, end-start)
			}
			want := to
			if start < len(keys) {
				want = min(to, keys[start])
			}
			if next, err := table.Next(context.Background(), at, to); err != nil || next != want {
				t.Fatalf("the next after %d is %d, want %d: %v", at, next, want, err)
			}
			at = next
		}
	})
}

func TestABoundIsKept(t *testing.T) {
	db := openSQLite(t)
	exec(t, db, "CREATE TABLE list (id INTEGER PRIMARY KEY)", "INSERT INTO list VALUES (1), (9)")
	options := source.TableOptions{Dialect: source.SQLite, Table: "main.list", Key: "id"}
	table, err := source.OpenTable(db, options)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := table.Bounds(t.Context()); err != nil {
		t.Fatal(err)
	}
	state, err := table.State()
	if err != nil {
		t.Fatal(err)
	}
	exec(t, db, "INSERT INTO list VALUES (100)")
	later, err := source.OpenTable(db, options)
	if err != nil {
		t.Fatal(err)
	}
	if err := later.Restore(state); err != nil {
		t.Fatal(err)
	}
	if from, to, err := later.Bounds(t.Context()); err != nil || from != 1 || to != 10 {
		t.Errorf("the bounds are %d and %d: %v", from, to, err)
	}
}

func TestTableMistakesAreNamed(t *testing.T) {
	db := openSQLite(t)
	exec(t, db, "CREATE TABLE list (id INTEGER, name TEXT)", "INSERT INTO list VALUES (1, 'a'), (1, 'b')")
	for _, name := range []string{"", "a b", `a"; DROP TABLE list; --`, "a.b.c", "1a", "a`", "ä", strings.Repeat("a", 64)} {
		if _, err := source.OpenTable(db, source.TableOptions{Dialect: source.SQLite, Table: name, Key: "id"}); err == nil {
			t.Errorf("table %q was taken", name)
		}
		if _, err := source.OpenTable(db, source.TableOptions{Dialect: source.SQLite, Table: "list", Key: name}); err == nil {
			t.Errorf("key %q was taken", name)
		}
		if _, err := source.OpenTable(db, source.TableOptions{Dialect: source.SQLite, Table: "list", Key: "id", Columns: []string{name}}); err == nil {
			t.Errorf("column %q was taken", name)
		}
	}
	for key, want := range map[string]string{"id": "unique", "name": "integers"} {
		table, err := source.OpenTable(db, source.TableOptions{Dialect: source.SQLite, Table: "list", Key: key})
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = table.Bounds(t.Context())
		if err == nil {
			_, _, err = table.Read(t.Context(), 0, 10, make([]source.Item, 5))
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("key %s: %v", key, err)
		}
	}
}

func TestIndexesAreTheirOwnItems(t *testing.T) {
	items := make([]source.Item, 4)
	n, next, err := source.Indexes{From: 10, To: 13}.Read(t.Context(), 11, 100, items)
	if err != nil || n != 2 || next != 13 || items[1].Index != 12 {
		t.Errorf("%v up to %d: %v", items[:n], next, err)
	}
	if _, _, err := (source.Indexes{From: 2, To: 1}).Bounds(t.Context()); err == nil {
		t.Error("a range backwards was taken")
	}
}

// A table is read without side effects, even through a view that writes.
func TestATableIsOnlyRead(t *testing.T) {
	db := openDB(t, "pgx", testdb.Postgres(t))
	exec(t, db, "CREATE TABLE log (id bigint)",
		"CREATE FUNCTION sneak() RETURNS bigint LANGUAGE sql AS 'INSERT INTO log VALUES (1) RETURNING 1::bigint'",
		"CREATE VIEW users AS SELECT sneak() AS id")
	table, err := source.OpenTable(db, source.TableOptions{Dialect: source.Postgres, Database: "crm", Table: "users", Key: "id"})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = table.Bounds(t.Context())
	if err == nil || !strings.Contains(err.Error(), "read table users of database crm") || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("it is read with %v", err)
	}
}
