package main

import (
	"context"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/mysql"
	"github.com/fairlead-io/fairlead/postgres"
	"github.com/fairlead-io/fairlead/sqlite"
)

const defaultDatabase = "sqlite://fairlead.db"

const databaseUsage = "database: sqlite://FILE, postgres://USER:PASSWORD@HOST/NAME or mysql://USER:PASSWORD@HOST/NAME"

// migratingStore is a store that can also change its schema; all of ours can.
type migratingStore interface {
	fairlead.Store
	fairlead.Migrator
}

// openStore opens the database that a URL names and brings its schema up to
// date.
func openStore(ctx context.Context, url string) (fairlead.Store, error) {
	return openDatabase(ctx, url, databaseOptions{})
}

type databaseOptions struct {
	// schemaOnly leaves the schema alone and allows nothing but the methods of
	// fairlead.Migrator.
	schemaOnly bool
	// idleLimit is how long the server lets a transaction of a stopped process
	// hold its locks; zero is the store's default.
	idleLimit time.Duration
}

func openDatabase(ctx context.Context, url string, o databaseOptions) (migratingStore, error) {
	scheme, _, _ := strings.Cut(url, "://")
	switch scheme {
	case "postgres", "postgresql":
		return postgres.OpenWith(ctx, url, postgres.Options{SchemaOnly: o.schemaOnly, IdleLimit: o.idleLimit})
	case "mysql":
		return mysql.OpenWith(ctx, url, mysql.Options{SchemaOnly: o.schemaOnly, IdleLimit: o.idleLimit})
	case "sqlite":
		return sqlite.OpenWith(ctx, url, sqlite.Options{SchemaOnly: o.schemaOnly})
	default:
		return nil, usagef("--db %q: it must begin with sqlite://, postgres:// or mysql://", withoutPassword(url))
	}
}

// withoutPassword is a URL that may be shown.
func withoutPassword(url string) string {
	scheme, rest, found := strings.Cut(url, "://")
	at := strings.LastIndexByte(rest, '@')
	if !found || at < 0 {
		return url
	}
	user, _, secret := strings.Cut(rest[:at], ":")
	if secret {
		user += ":***"
	}
	return scheme + "://" + user + rest[at:]
}
