// Package tables opens the databases whose tables sweeps process. These databases belong to
// others: Fairlead only reads them, over few connections.
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
	// conns is the number of shards on a node that can read at the same time. Each reads
	// ahead, so a few connections serve many shards.
	conns = 4
	// idle is how long an unused connection stays open.
	idle = time.Minute
	// patience is the time limit for reaching a database.
	patience = 10 * time.Second
)

// Databases holds the open databases by name.
type Databases struct {
	all map[string]opened
}

type opened struct {
	db      *sql.DB
	dialect source.Dialect
}

// Open prepares the databases at the given URLs. The keys of urls are the databases' names.
// Open does not connect to the databases, because an unreachable database must not keep a
// node from its other work. Errors contain the database's name, but never its password.
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

// Names returns the databases' names, sorted.
func (d *Databases) Names() []string { return slices.Sorted(maps.Keys(d.all)) }

// Sources returns the databases by name, in the form that sweeps use.
func (d *Databases) Sources() map[string]source.Database {
	sources := map[string]source.Database{}
	for name, one := range d.all {
		sources[name] = source.Database{Querier: one.db, Dialect: one.dialect}
	}
	return sources
}

// Check logs every database that is currently unreachable. This makes a configuration error
// visible before it stops a sweep.
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

// Close closes all database connections.
func (d *Databases) Close() error {
	var all []error
	for _, one := range d.all {
		all = append(all, one.db.Close())
	}
	return errors.Join(all...)
}
