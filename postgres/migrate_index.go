package postgres

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// A migration builds an index of a table that may be large by
//
//	create index concurrently {{name_index}} on {{table}} (...);
//
// Unlike an ordinary create index, this lets jobs be stored, claimed and settled
// meanwhile. It cannot be part of a transaction. An interrupted build leaves an invalid
// index behind, which the next try replaces. One process builds, under the lock of the
// migrations; the others wait for it. In a database without tables, it is an ordinary
// create index like the rest.

// errMore means that a transaction of Migrate is committed but the schema is not
// current yet.
var errMore = errors.New("the schema needs another transaction")

// errBuilding means that the server is still building an index for a process that is
// gone. It passes.
var errBuilding = errors.New("the index is still being built on behalf of an earlier process")

var concurrentIndex = regexp.MustCompile(`(?i)^create (?:unique )?(index concurrently) "?(\w+)"?`)

// builtApart returns the name of the index that a statement builds outside of any
// transaction, if it does.
func builtApart(statement string) (index string, apart bool) {
	if parts := concurrentIndex.FindStringSubmatch(statement); parts != nil {
		return parts[2], true
	}
	return "", false
}

// inTransaction rewrites a statement into one that a transaction may contain.
func inTransaction(statement string) string {
	if at := concurrentIndex.FindStringSubmatchIndex(statement); at != nil {
		return statement[:at[2]] + "index" + statement[at[3]:]
	}
	return statement
}

// inOneTransaction rewrites migrations of an empty database so that one transaction may
// contain them.
func inOneTransaction(migrations []sqlstore.Migration) []sqlstore.Migration {
	migrations = slices.Clone(migrations)
	for i, m := range migrations {
		migrations[i].Steps = nil
		for _, step := range m.Steps {
			migrations[i].Steps = append(migrations[i].Steps, inTransaction(step))
		}
	}
	return migrations
}

// buildIndex builds an index on its own connection, unless the index exists. The server
// reads the table twice and waits for transactions that began before. Only the caller's
// context bounds the time.
func (s *Store) buildIndex(ctx context.Context, name, statement string) (err error) {
	config := s.pool.Config()
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	conn, err := connectAs(ctx, config)
	if err != nil {
		return err
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		err = errors.Join(err, conn.Close(closing))
	}()
	if !s.pooled { // the session is the store's own, but may have limits set by the server
		if _, err := conn.Exec(ctx, s.sql.TakeYourTime); err != nil {
			return err
		}
	}
	var valid, building bool
	err = conn.QueryRow(ctx, s.sql.FindIndex, s.schema, name).Scan(&valid, &building)
	switch {
	case err == nil && valid:
		return nil
	case err == nil && building:
		return errBuilding
	case err == nil:
		_, err = conn.Exec(ctx, strings.ReplaceAll(s.sql.DropIndex, indexName, name))
	case errors.Is(err, pgx.ErrNoRows):
		err = nil
	}
	if err == nil {
		_, err = conn.Exec(ctx, statement)
	}
	if err != nil {
		return fmt.Errorf("build index %s: %w", name, err)
	}
	return nil
}

// buildsIndex reports whether the server is building an index in this database, for any
// process. It returns false if that cannot be read.
func (s *Store) buildsIndex(ctx context.Context) (building bool) {
	err := s.runPlain(ctx, call{sql: s.sql.BuildsIndex, each: hits(&building)})
	return err == nil && building
}
