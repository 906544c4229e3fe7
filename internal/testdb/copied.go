package testdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// A Template is a database that tests get copies of. Copying tables takes a server far less
// time than running all the statements that create them.
type Template struct {
	// Fill is called once with the URL of the empty database. It closes all its
	// connections before it returns.
	Fill func(ctx context.Context, url string) error

	once   sync.Once
	name   string
	script string // MariaDB: the statements that copy the template into the current database
	err    error
	drop   func(ctx context.Context) error
}

// Postgres returns the URL of a fresh copy of the template, which is dropped when the
// test ends.
func (p *Template) Postgres(t testing.TB) string {
	t.Helper()
	admin := sharedPostgres.url(t)
	p.make(t, admin, createPostgres, dropPostgres)
	copied := func(ctx context.Context, adminURL, name string) error {
		return copyPostgres(ctx, adminURL, name, p.name)
	}
	return freshDatabase(t, admin, copied, dropPostgres)
}

// MySQL returns the URL of a fresh copy on MariaDB or MySQL. It copies tables with their
// rows, and views of those tables, and nothing else.
func (p *Template) MySQL(t testing.TB) string {
	t.Helper()
	admin := sharedMySQL.url(t)
	p.make(t, admin, createMySQL, dropMySQL)
	copied := func(ctx context.Context, adminURL, name string) error {
		if err := createMySQL(ctx, adminURL, name); err != nil {
			return err
		}
		return withMySQL(adminURL, name, func(db *sql.DB) error {
			_, err := db.ExecContext(ctx, p.script)
			return err
		})
	}
	return freshDatabase(t, admin, copied, dropMySQL)
}

// make creates and fills the template on first use.
func (p *Template) make(t testing.TB, adminURL string, create, drop func(ctx context.Context, adminURL, name string) error) {
	t.Helper()
	p.once.Do(func() {
		ctx := context.WithoutCancel(t.Context())
		name := databaseName("template")
		if p.err = create(ctx, adminURL, name); p.err != nil {
			return
		}
		p.name, p.drop = name, func(ctx context.Context) error { return drop(ctx, adminURL, name) }
		var database *url.URL
		if database, p.err = url.Parse(adminURL); p.err != nil {
			return
		}
		database.Path = "/" + name
		p.err = p.Fill(ctx, database.String())
		if p.err == nil && database.Scheme == "mysql" {
			p.err = withMySQL(adminURL, name, func(db *sql.DB) error { return p.write(ctx, db) })
		}
	})
	if p.err != nil {
		t.Fatalf("testdb: fill the template: %v", p.err)
	}
}

// write generates the script.
func (p *Template) write(ctx context.Context, db *sql.DB) error {
	tables, err := queryTexts(ctx, db, "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'")
	if err != nil {
		return err
	}
	views, err := queryTexts(ctx, db, "SELECT CONCAT('CREATE SQL SECURITY ', security_type, ' VIEW `', table_name, '` AS ', view_definition, ';\n') FROM information_schema.views WHERE table_schema = DATABASE()")
	if err != nil {
		return err
	}
	var script strings.Builder
	for _, table := range tables {
		var name, definition string
		var filled bool
		err := errors.Join(
			db.QueryRowContext(ctx, "SHOW CREATE TABLE `"+table+"`").Scan(&name, &definition),
			db.QueryRowContext(ctx, "SELECT EXISTS(SELECT 1 FROM `"+table+"`)").Scan(&filled))
		if err != nil {
			return err
		}
		script.WriteString(definition + ";\n")
		if filled {
			fmt.Fprintf(&script, "INSERT INTO `%[1]s` SELECT * FROM `%[2]s`.`%[1]s`;\n", table, p.name)
		}
	}
	for _, view := range views {
		script.WriteString(strings.ReplaceAll(view, "`"+p.name+"`.", ""))
	}
	p.script = script.String()
	return nil
}

// Drop removes the template, if any test requested a copy. Call it after all tests have
// ended.
func (p *Template) Drop() error {
	if p.drop == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), dropTimeout)
	defer cancel()
	return p.drop(ctx)
}
