// Package mysqltest opens stores on MySQL and MariaDB for tests, with a clock that the test
// moves.
package mysqltest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"strings"
	"time"

	gomysql "github.com/go-sql-driver/mysql"

	"github.com/fairlead-io/fairlead/fairleadtest"
	"github.com/fairlead-io/fairlead/internal/mysqlurl"
	"github.com/fairlead-io/fairlead/mysql"
)

// begin is the time at which the clock begins.
var begin = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// Open opens a store in the database at the given URL, using tables with a unique prefix. It
// closes the store and removes the tables when the test ends. Use the store's Tx method with
// transactions on the same database.
func Open(t fairleadtest.TB, url string) (*mysql.Store, *Clock) {
	t.Helper()
	config, err := mysqlurl.Parse(url)
	if err != nil {
		t.Fatalf("mysqltest: %v", err)
	}
	connector, err := gomysql.NewConnector(config)
	if err != nil {
		t.Fatalf("mysqltest: %v", err)
	}
	prefix := "ft_" + strings.ToLower(rand.Text()[:10]) + "_"
	c := &Clock{t: t, db: sql.OpenDB(connector), table: "`" + config.DBName + "`." + prefix + "clock"}
	t.Cleanup(func() { _ = c.db.Close() })
	t.Cleanup(func() { c.drop(prefix) })
	c.exec("create table " + c.table + " (us bigint not null)")
	c.exec("insert into "+c.table+" values (?)", begin.UnixMicro())
	store, err := mysql.OpenWith(t.Context(), url, mysql.Options{Prefix: prefix, Now: "(select us from " + c.table + ")"})
	if err != nil {
		t.Fatalf("mysqltest: open the store: %v", err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store, c
}

// Clock is a store's clock. Its time is stored in a table and changes only when the test
// calls Advance.
type Clock struct {
	t     fairleadtest.TB
	db    *sql.DB
	table string
}

// Now returns the clock's current time.
func (c *Clock) Now() time.Time {
	c.t.Helper()
	var us int64
	if err := c.db.QueryRowContext(c.context(), "select us from "+c.table).Scan(&us); err != nil {
		c.t.Fatalf("mysqltest: %v", err)
	}
	return time.UnixMicro(us).UTC()
}

// Advance moves the clock forward by d.
func (c *Clock) Advance(d time.Duration) {
	c.t.Helper()
	c.exec("update "+c.table+" set us = us + ?", d.Microseconds())
}

// drop removes all tables and views with a prefix.
func (c *Clock) drop(prefix string) {
	c.t.Helper()
	rows, err := c.db.QueryContext(c.context(), "select table_name, table_type from information_schema.tables where table_schema = database() and table_name like ?",
		strings.ReplaceAll(prefix, "_", `\_`)+"%")
	if err != nil {
		c.t.Fatalf("mysqltest: %v", err)
	}
	defer func() { _ = rows.Close() }()
	var statements []string
	for rows.Next() {
		var name, kind string
		if err := rows.Scan(&name, &kind); err != nil {
			c.t.Fatalf("mysqltest: %v", err)
		}
		what := "table"
		if kind == "VIEW" {
			what = "view"
		}
		statements = append(statements, fmt.Sprintf("drop %s `%s`", what, name))
	}
	if err := rows.Err(); err != nil {
		c.t.Fatalf("mysqltest: %v", err)
	}
	for _, statement := range statements {
		c.exec(statement)
	}
}

func (c *Clock) exec(statement string, args ...any) {
	c.t.Helper()
	if _, err := c.db.ExecContext(c.context(), statement, args...); err != nil {
		c.t.Fatalf("mysqltest: %s: %v", statement, err)
	}
}

// context is one that is still good when the test is about to end.
func (c *Clock) context() context.Context { return context.WithoutCancel(c.t.Context()) }
