// Package tables opens the databases whose tables sweeps go over. They are other
// people's: they are only read, and over few connections.
package tables

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead/internal/source"
)

const (
	// conns is how many shards of a node can read at the same moment. Each reads
	// ahead, so that few are enough for many.
	conns = 4
	// idle is how long a connection stays open without use.
	idle = time.Minute
	// patience is how long it may take to reach a database.
	patience = 10 * time.Second
)

// Databases are opened by their names.
type Databases struct {
	all map[string]opened
}

type opened struct {
	db      *sql.DB
	dialect source.Dialect
}

// Open makes ready the databases of these URLs, by name. It connects to none of them:
// one that is out of reach must not keep a node from its other work. Its errors name
// the database, and do not have its password.
func Open(urls map[string]string) (*Databases, error) {
	d := &Databases{all: map[string]opened{}}
	for _, name := range slices.Sorted(maps.Keys(urls)) {
		db, dialect, err := open(urls[name])
		if err != nil {
			return nil, errors.Join(fmt.Errorf("database %q: %w", name, err), d.Close())
		}
		db.SetMaxOpenConns(conns)
		db.SetMaxIdleConns(conns)
		db.SetConnMaxIdleTime(idle)
		d.all[name] = opened{db, dialect}
	}
	return d, nil
}

// Names lists the databases.
func (d *Databases) Names() []string { return slices.Sorted(maps.Keys(d.all)) }

// Sources are the databases as sweeps read them.
func (d *Databases) Sources() map[string]source.Database {
	sources := map[string]source.Database{}
	for name, one := range d.all {
		sources[name] = source.Database{Querier: one.db, Dialect: one.dialect}
	}
	return sources
}

// Check logs which databases cannot be reached now, so that a mistake in the settings
// is seen before a sweep stops for it.
func (d *Databases) Check(ctx context.Context, log *slog.Logger) {
	for _, name := range d.Names() {
		if err := d.ping(ctx, name); err != nil && ctx.Err() == nil {
			log.Warn("sweep database unreachable; sweeps over its tables will stop", "database", name, "error", err)
		}
	}
}

func (d *Databases) ping(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return d.all[name].db.PingContext(ctx)
}

// Close ends all connections.
func (d *Databases) Close() error {
	var all []error
	for _, one := range d.all {
		all = append(all, one.db.Close())
	}
	return errors.Join(all...)
}
