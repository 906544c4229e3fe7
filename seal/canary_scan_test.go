package seal_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	mysqldriver "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib" // reads what the store of PostgreSQL has written

	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/mysqlurl"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/mysql"
	"github.com/fairlead-io/fairlead/postgres"
	"github.com/fairlead-io/fairlead/sqlite"
)

// wholeStore is a store with tokens and an audit log.
type wholeStore interface {
	driver.Store
	access.Store
}

// database is a store, and a connection of its own to the tables that the store writes.
type database struct {
	store   wholeStore
	db      *sql.DB
	columns string // names of all tables and of their columns
	quote   string
}

// everyDatabase runs a test with an empty database of each sort.
func everyDatabase(t *testing.T, test func(t *testing.T, d database)) {
	t.Helper()
	for name, open := range map[string]func(t *testing.T) (database, error){
		"SQLite": func(t *testing.T) (database, error) {
			store, err := sqlite.Open(t.Context(), "sqlite://"+sqlitetest.File(t))
			if err != nil {
				return database{}, err
			}
			return database{store, store.DB(), `select m.name, c.name from sqlite_master m, pragma_table_info(m.name) c where m.type = 'table'`, `"`}, nil
		},
		"PostgreSQL": func(t *testing.T) (database, error) {
			url := testdb.Postgres(t)
			store, err := postgres.Open(t.Context(), url)
			if err != nil {
				return database{}, err
			}
			db, err := sql.Open("pgx", url)
			return database{store, db, `select table_name, column_name from information_schema.columns join information_schema.tables using (table_schema, table_name) where table_schema = current_schema() and table_type = 'BASE TABLE'`, `"`}, err
		},
		"MySQL": func(t *testing.T) (database, error) {
			url := testdb.MySQL(t)
			store, err := mysql.Open(t.Context(), url)
			if err != nil {
				return database{}, err
			}
			config, err := mysqlurl.Parse(url)
			if err != nil {
				return database{}, err
			}
			connector, err := mysqldriver.NewConnector(config)
			if err != nil {
				return database{}, err
			}
			return database{store, sql.OpenDB(connector), `select table_name, column_name from information_schema.columns join information_schema.tables using (table_schema, table_name) where table_schema = database() and table_type = 'BASE TABLE'`, "`"}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := open(t)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _, _ = d.db.Close(), d.store.Close() })
			test(t, d)
		})
	}
}

// found is a canary where it must not be, or may be.
type found struct {
	place  string // table.column, and behind a colon the path within a document
	canary string
}

// scan looks for canaries in every column of every table. It also returns the tables that
// have no rows.
func (d database) scan(ctx context.Context) (canaries []found, empty []string, err error) {
	columns := map[string][]string{}
	rows, err := d.db.QueryContext(ctx, d.columns)
	if err != nil {
		return nil, nil, err
	}
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			return nil, nil, err
		}
		columns[table] = append(columns[table], column)
	}
	if err := rows.Err(); err != nil {
		return nil, nil, err
	}
	seen := map[found]bool{}
	for _, table := range slices.Sorted(maps.Keys(columns)) {
		read, err := d.scanTable(ctx, table, columns[table], seen)
		if err != nil {
			return nil, nil, fmt.Errorf("table %s: %w", table, err)
		}
		if read == 0 {
			empty = append(empty, bare(table))
		}
	}
	return slices.Collect(maps.Keys(seen)), empty, nil
}

// bare returns the name of a table without the prefix of all tables.
func bare(table string) string { return strings.TrimPrefix(table, "fairlead_") }

func (d database) scanTable(ctx context.Context, table string, columns []string, seen map[found]bool) (read int, err error) {
	quoted := make([]string, len(columns))
	values, into := make([]sql.RawBytes, len(columns)), make([]any, len(columns))
	for i, column := range columns {
		quoted[i], into[i] = d.quote+column+d.quote, &values[i]
	}
	rows, err := d.db.QueryContext(ctx, "select "+strings.Join(quoted, ", ")+" from "+d.quote+table+d.quote)
	if err != nil {
		return 0, err
	}
	for ; rows.Next(); read++ {
		if err := rows.Scan(into...); err != nil {
			return read, err
		}
		for i, value := range values {
			look(bare(table)+"."+columns[i], value, seen)
		}
	}
	return read, rows.Err()
}

// canaryPattern matches what plant writes.
var canaryPattern = regexp.MustCompile(`canary(?:-[a-z0-9]+)+`)

// look records the canaries of a value. If the value is a document, it records them by
// path, because one column contains sealed and readable values. Documents may be strings
// within others.
func look(place string, value []byte, seen map[found]bool) {
	var object map[string]json.RawMessage
	var list []json.RawMessage
	var text string
	switch {
	case !canaryPattern.Match(value):
	case json.Unmarshal(value, &object) == nil:
		for name, member := range object {
			if canary := canaryPattern.FindString(name); canary != "" {
				seen[found{place + " (a name)", canary}], name = true, "*"
			}
			look(place+":"+name, member, seen)
		}
	case json.Unmarshal(value, &list) == nil:
		for _, element := range list {
			look(place, element, seen)
		}
	case json.Unmarshal(value, &text) == nil && json.Valid([]byte(text)):
		look(place, []byte(text), seen)
	default:
		for _, canary := range canaryPattern.FindAllString(string(value), -1) {
			seen[found{place, canary}] = true
		}
	}
}
