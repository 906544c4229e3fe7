package mysql_test

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/mysql"
	"github.com/fairlead-io/fairlead/storetest"
)

// lasting are the tables whose rows stores remember for ever, and the clock.
var lasting = regexp.MustCompile("_(clock|migration|lane|secret|fence|gate|holdset|listener|server)$")

// emptier makes a function that empties the store's tables in one round trip,
// and tells all stores that the rules have changed.
func emptier(t testing.TB, address string) func(storetest.Store) error {
	t.Helper()
	config := rawConfig(t, address)
	config.MultiStatements = true
	config.Params = map[string]string{"autocommit": "1"}
	db := openRaw(t, config)
	var c clearing
	return func(s storetest.Store) error {
		defer s.(*mysql.Store).ForgetBounds() // of tenants that are gone
		if c.remove == "" {                   // the tables are there by now
			if err := c.write(db); err != nil {
				return err
			}
		}
		var jobs, lanes int
		if err := db.QueryRowContext(context.Background(), c.count).Scan(&jobs, &lanes); err != nil {
			return err
		}
		if err := storetest.TooMuch(jobs, lanes); err != nil {
			return err
		}
		_, err := db.ExecContext(context.Background(), c.remove)
		return err
	}
}

// clearing is the statements that empty a store's tables.
type clearing struct{ count, remove string }

// write writes the statements for whatever tables there are.
func (c *clearing) write(db *sql.DB) error {
	rows, err := db.QueryContext(context.Background(),
		"select table_name from information_schema.tables where table_schema = database() and table_type = 'BASE TABLE'")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var table string
		if err := rows.Scan(&table); err != nil {
			return err
		}
		switch prefix, counters := strings.CutSuffix(table, "counter"); {
		case counters:
			c.remove += fmt.Sprintf("update `%s` set value = value + 1 where name = 'pause'; ", table)
			c.count = fmt.Sprintf("select (select count(*) from `%[1]sjob`), (select count(*) from `%[1]slane`)", prefix)
		case !lasting.MatchString(table):
			c.remove += fmt.Sprintf("delete from `%s`; ", table)
		}
	}
	return rows.Err()
}
