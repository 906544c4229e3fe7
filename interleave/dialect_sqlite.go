package interleave

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"fmt"
	"math"
	"net/url"
	"sync/atomic"
	"time"

	driversqlite "modernc.org/sqlite"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/sqlite"
)

// A sqliteDialect opens a database file. The host in a URL names the valve.
type sqliteDialect struct {
	clock  atomic.Int64 // in microseconds
	valves []*fileValve
}

func (*sqliteDialect) name() string { return "sqlite" }

func (d *sqliteDialect) newValve(*url.URL) (valve, error) {
	v := newFileValve(fmt.Sprintf("valve-%d", len(d.valves)))
	d.valves = append(d.valves, v)
	return v, nil
}

// connector returns a connector by way of the valve that a URL names, if any.
func (d *sqliteDialect) connector(at *url.URL, name string, caller bool) (sqldriver.Connector, error) {
	for _, v := range d.valves {
		if v.name == at.Host {
			return v.connector(name, caller)
		}
	}
	return driversqlite.NewConnector(name)
}

func (d *sqliteDialect) connect(at *url.URL) (*sql.DB, error) {
	settings := "?_txlock=immediate&_pragma=journal_mode(wal)&_pragma=synchronous(off)"
	if at.Host == "" {
		settings += "&_pragma=busy_timeout(5000)" // a valve waits by itself
	}
	connector, err := d.connector(at, "file:"+at.EscapedPath()+settings, true)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

func (d *sqliteDialect) open(ctx context.Context, at string) (Store, error) {
	u, err := url.Parse(at)
	if err != nil {
		return nil, err
	}
	return sqlite.OpenWith(ctx, u.Path, sqlite.Options{
		Synchronous: "off", Poll: -1, QueryTimeout: queryTimeout,
		Clock:     func() time.Time { return time.UnixMicro(d.clock.Load()) },
		Connector: func(name string) (sqldriver.Connector, error) { return d.connector(u, name, false) },
	})
}

func (d *sqliteDialect) prepare(ctx context.Context, admin *sql.DB) error {
	if _, err := admin.ExecContext(ctx, "insert into fairlead_lane (queue, tenant, kind) values ('idle', '', ?), ('idle too', '', ?)", idleKind, idleKind); err != nil {
		return err
	}
	if _, err := admin.ExecContext(ctx, "update fairlead_counter set value = ? * (select count(*) from fairlead_counter c where c.name <= fairlead_counter.name)", idFloor); err != nil {
		return err
	}
	_, err := admin.ExecContext(ctx, "update fairlead_counter set value = ? where name = 'fence'", afterScenes.UnixMicro())
	return err
}

// fenceRange implements dialect: fences follow the one that prepare stores, because the clock
// never reaches it.
func (*sqliteDialect) fenceRange() (from, to int64) { return afterScenes.UnixMicro(), math.MaxInt64 }

func (*sqliteDialect) tableNames(*url.URL) string {
	return "select name from sqlite_master where type = 'table' and name like 'fairlead%' order by name"
}

func (*sqliteDialect) limitUse() string { return "" }

func (d *sqliteDialect) moved(ctx context.Context, admin *sql.DB) error {
	var us int64
	err := admin.QueryRowContext(ctx, "select us from test_clock").Scan(&us)
	d.clock.Store(us)
	return err
}

// idleKind is the kind of lanes that never have jobs.
const idleKind = "idle"

// warm claims from lanes without jobs: the writer reads which lanes have some, and trusts that
// as long as the counters of the file allow.
func (*sqliteDialect) warm(ctx context.Context, s Store, node fairlead.NodeID) error {
	_, err := s.Claim(ctx, driver.Claim{Node: node, Scope: &driver.Scope{Kinds: []string{idleKind}}, Max: 1})
	return err
}

func (*sqliteDialect) oneWriter() bool { return true }

func (*sqliteDialect) changeLimits() string {
	return "update fairlead_counter set value = value + 1 where name = 'rules'"
}

// waiting implements dialect. A connection that waits for another one than that of an actor
// soon continues.
func (d *sqliteDialect) waiting(context.Context, *sql.DB) (waiting []int, err error) {
	for _, v := range d.valves {
		for _, other := range d.valves {
			if other != v && other.inTransaction() {
				waiting = append(waiting, v.having(func(c *fileConn) bool { return c.waiting.Load() })...)
			}
		}
	}
	return waiting, nil
}

// connected implements dialect. The database does not know connections without a transaction.
func (d *sqliteDialect) connected(context.Context, *sql.DB) (connected []int, err error) {
	for _, v := range d.valves {
		connected = append(connected, v.having(func(c *fileConn) bool { return c.began.Load() })...)
	}
	return connected, nil
}

func (*sqliteDialect) within(s Store, tx *sql.Tx) driver.Tx { return s.(*sqlite.Store).Tx(tx) }
