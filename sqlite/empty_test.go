package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"

	"github.com/fairlead-io/fairlead/sqlite"
	"github.com/fairlead-io/fairlead/storetest"
)

// lasting are the tables whose rows stores remember for ever.
var lasting = regexp.MustCompile("^(sqlite_.*|fairlead_(migration|lane|secret|counter|server))$")

// empty removes the rows of all other tables, and tells all stores that the
// rules have changed.
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
	tables, err := passing(ctx, tx)
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

// passing names the tables whose rows come and go.
func passing(ctx context.Context, tx *sql.Tx) (names []string, err error) {
	rows, err := tx.QueryContext(ctx, "select name from sqlite_master where type = 'table'")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		if !lasting.MatchString(name) {
			names = append(names, name)
		}
	}
	return names, rows.Err()
}
