package main

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/mysql"
	"github.com/fairlead-io/fairlead/postgres"
	"github.com/fairlead-io/fairlead/server"
	"github.com/fairlead-io/fairlead/sqlite"
)

const defaultDatabase = "sqlite://fairlead.db"

const databaseUsage = "URL of the database (env FAIRLEAD_DB): sqlite://FILE, postgres://USER:PASSWORD@HOST/NAME or mysql://USER:PASSWORD@HOST/NAME"

// migratingStore is a store that can also change its schema; all included stores can.
type migratingStore interface {
	server.Store
	driver.Migrator
}

// timedStore is a store that measures the calls of nodes.
type timedStore struct {
	driver.Store
	registry
}

type registry = access.Store

// openStore opens the database with a URL and upgrades its schema.
func openStore(ctx context.Context, location string) (server.Store, error) {
	return openDatabase(ctx, location, databaseOptions{})
}

type databaseOptions struct {
	// schemaOnly leaves the schema unchanged. Only the methods of driver.Migrator may be
	// called.
	schemaOnly bool
	// idleLimit is how long the server lets a transaction of a stopped process hold its locks;
	// zero means the store's default.
	idleLimit time.Duration
	// wakeAddr is the address at which a process on MySQL receives wakes from others; empty
	// means the store's default.
	wakeAddr string
	// listenURL is the URL from which a process on PostgreSQL receives wakes from others, if
	// different from the database's own URL; empty means FAIRLEAD_DB_LISTEN, if set.
	listenURL string
	// waiting is called with the name of the other process if opening must wait for it; may be
	// nil.
	waiting func(whom string)
}

const listenUsage = "for PostgreSQL behind PgBouncer: URL of the PostgreSQL server itself, used to receive notifications of new jobs, or - to poll only (default: the URL of --db, unless it leads to a pooler)"

// openDatabase opens the database with a URL. Its errors contain the URL without the
// password.
func openDatabase(ctx context.Context, location string, o databaseOptions) (store migratingStore, err error) {
	scheme, _, _ := strings.Cut(location, "://")
	switch scheme {
	case "postgres", "postgresql":
		listenURL := cmp.Or(o.listenURL, os.Getenv(variableOf(dbListenFlag)))
		store, err = postgres.OpenWith(ctx, location, postgres.Options{SchemaOnly: o.schemaOnly, IdleLimit: o.idleLimit, ListenURL: listenURL, Waiting: o.waiting})
	case "mysql":
		store, err = mysql.OpenWith(ctx, location, mysql.Options{SchemaOnly: o.schemaOnly, IdleLimit: o.idleLimit, WakeAddr: o.wakeAddr, Waiting: o.waiting})
	case "sqlite":
		return sqlite.OpenWith(ctx, location, sqlite.Options{SchemaOnly: o.schemaOnly, Waiting: o.waiting}) // its errors already name the file
	default:
		return nil, usagef("--db (or FAIRLEAD_DB) must begin with sqlite://, postgres:// or mysql://%s", instead(location, scheme))
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", shown(location), err)
	}
	return store, nil
}

// instead suggests the correct scheme for schemes known from other programs. Otherwise it
// does not repeat the input, which may be a password.
func instead(location, scheme string) string {
	if !strings.Contains(location, "://") {
		return ""
	}
	switch lower := strings.ToLower(scheme); lower {
	case "sqlite", "postgres", "postgresql", "mysql":
		return fmt.Sprintf("; write %s:// in lower case", lower)
	case "mariadb":
		return "; for MariaDB, use mysql://"
	case "sqlite3", "file":
		return "; for a file, use sqlite://FILE"
	case "pgx", "pg", "psql":
		return "; for PostgreSQL, use postgres://"
	}
	return ""
}

// isInMemory reports whether a database is visible only to its own process.
func isInMemory(location string) bool { return location == "sqlite://:memory:" }

// shown returns the part of a URL that may be displayed: the user info and the parameters
// may contain passwords.
func shown(text string) string {
	if path, ok := strings.CutPrefix(text, "sqlite://"); ok {
		return "sqlite://" + path
	}
	parsed, err := url.Parse(text)
	if err != nil || parsed.Host == "" {
		return "the database"
	}
	return (&url.URL{Scheme: parsed.Scheme, Host: parsed.Host, Path: parsed.Path}).String()
}
