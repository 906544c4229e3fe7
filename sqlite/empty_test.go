package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/fairlead-io/fairlead/sqlite"
	"github.com/fairlead-io/fairlead/storetest"
)

// lasting are the tables whose rows stores remember for ever.
var lasting = regexp.MustCompile("^(sqlite_.*|fairlead_(migration|lane|secret|counter|server))$")

// empty removes the rows of all other tables, and tells all stores that the
// limits have changed.
func empty(s storetest.Store) error {
	ctx := context.Background()
	tx, err := s.(*sqlite.Store).DB().BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // it is over after the commit
	var jobs, lanes int
	if err := tx.QueryRowContext(ctx, "select (select count(*) from fairlead_job), (select count(*) from fairlead_lane)").Scan(&jobs, &lanes); err != nil {
		return err
	}
	if err := storetest.TooMuch(jobs, lanes); err != nil {
		return err
	}
	tables, err := filled(ctx, tx)
	if err != nil {
		return err
	}
	for _, table := range tables {
		if _, err := tx.ExecContext(ctx, fmt.Sprintf("delete from %q", table)); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, "update fairlead_counter set value = value + 1 where name = 'rules'"); err != nil {
		return err
	}
	return tx.Commit()
}

// filled names the tables with rows that come and go.
func filled(ctx context.Context, tx *sql.Tx) ([]string, error) {
	looking.Lock()
	defer looking.Unlock()
	if look == "" {
		tables, err := names(ctx, tx, "select name from sqlite_master where type = 'table'")
		if err != nil {
			return nil, err
		}
		var looks []string
		for _, table := range tables {
			if !lasting.MatchString(table) {
				looks = append(looks, fmt.Sprintf("select '%[1]s' where exists (select 1 from %[1]s)", table))
			}
		}
		look = strings.Join(looks, " union all ")
	}
	return names(ctx, tx, look)
}

// look finds the tables with rows. It is the same for all databases.
var (
	looking sync.Mutex
	look    string
)

// names returns what a query finds.
func names(ctx context.Context, tx *sql.Tx, query string) (found []string, err error) {
	rows, err := tx.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		found = append(found, name)
	}
	return found, rows.Err()
}
