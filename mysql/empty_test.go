package mysql_test

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead"
)

// lasting are the tables whose rows stores remember for ever, and the clock.
var lasting = regexp.MustCompile("_(clock|migration|lane|secret|fence|gate|holdset|listener)$")

// emptier makes a function that empties the store's tables in one round trip,
// and tells all stores that the rules have changed.
func emptier(t testing.TB, address string) func(fairlead.Store) error {
	t.Helper()
	config := rawConfig(t, address)
	config.MultiStatements = true
	config.Params = map[string]string{"autocommit": "1"}
	db, clearing := openRaw(t, config), ""
	return func(fairlead.Store) (err error) {
		if clearing == "" { // the tables are there by now
			if clearing, err = clearingStatements(db); err != nil {
				return err
			}
		}
		_, err = db.ExecContext(context.Background(), clearing)
		return err
	}
}

func clearingStatements(db *sql.DB) (string, error) {
	rows, err := db.QueryContext(context.Background(),
		"select table_name from information_schema.tables where table_schema = database() and table_type = 'BASE TABLE'")
	if err != nil {
		return "", err
	}
	defer rows.Close()
	var text strings.Builder
	for rows.Next() {
		var table string
		if err := rows.Scan(&table); err != nil {
			return "", err
		}
		switch {
		case strings.HasSuffix(table, "_counter"):
			fmt.Fprintf(&text, "update `%s` set value = value + 1 where name = 'pause'; ", table)
		case !lasting.MatchString(table):
			fmt.Fprintf(&text, "delete from `%s`; ", table)
		}
	}
	return text.String(), rows.Err()
}
