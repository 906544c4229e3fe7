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

// emptier makes a function that empties the store's tables, and tells all stores that the
// limits have changed.
func emptier(t testing.TB, address string) func(storetest.Store) error {
	t.Helper()
	config := rawConfig(t, address)
	config.MultiStatements = true
	config.Params = map[string]string{"autocommit": "1"}
	db := openRaw(t, config)
	var c clearing
	return func(s storetest.Store) error {
		defer s.(*mysql.Store).ForgetBounds() // of tenants that are gone
		if c.look == "" {                     // the tables are there by now
			if err := c.write(db); err != nil {
				return err
			}
		}
		var jobs, lanes int
		var remove string
		if err := db.QueryRowContext(context.Background(), c.look).Scan(&jobs, &lanes, &remove); err != nil {
			return err
		}
		if err := storetest.TooMuch(jobs, lanes); err != nil {
			return err
		}
		_, err := db.ExecContext(context.Background(), c.always+remove)
		return err
	}
}

// clearing is the statements that empty a store's tables. look counts jobs and lanes, and
// writes the statements that empty the tables which have rows: most have none.
type clearing struct{ look, always string }

// write writes the statements for whatever tables there are.
func (c *clearing) write(db *sql.DB) error {
	rows, err := db.QueryContext(context.Background(),
		"select table_name from information_schema.tables where table_schema = database() and table_type = 'BASE TABLE'")
	if err != nil {
		return err
	}
	defer rows.Close()
	var own string
	var filled []string
	for rows.Next() {
		var table string
		if err := rows.Scan(&table); err != nil {
			return err
		}
		switch prefix, counters := strings.CutSuffix(table, "counter"); {
		case counters:
			own, c.always = prefix, fmt.Sprintf("update `%s` set value = value + 1 where name = 'pause'; ", table)
		case !lasting.MatchString(table):
			filled = append(filled, fmt.Sprintf("if(exists(select 1 from `%[1]s`), 'delete from `%[1]s`', null)", table))
		}
	}
	c.look = fmt.Sprintf("select (select count(*) from `%[1]sjob`), (select count(*) from `%[1]slane`), concat_ws('; ', %[2]s)", own, strings.Join(filled, ", "))
	return rows.Err()
}
