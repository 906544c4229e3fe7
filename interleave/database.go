package interleave

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/driver"
)

// A Store is what the actors call.
type Store interface {
	driver.Store
	access.Store
}

// A database is an empty database of one type, whose clock only the player moves.
type database struct {
	dialect
	url   *url.URL
	admin *sql.DB // past all valves

	tables []string // whose rows belong to a scene
	filled string   // returns the names of those that have rows
}

// A dialect is what depends on the type of a database.
type dialect interface {
	name() string
	// newValve starts a valve in front of a database.
	newValve(at *url.URL) (valve, error)
	// connect opens a handle of a caller.
	connect(url *url.URL) (*sql.DB, error)
	// open opens a store.
	open(ctx context.Context, url string) (Store, error)
	// prepare makes new ids recognizable: all are at least idFloor, and ids of different things
	// differ.
	prepare(ctx context.Context, admin *sql.DB) error
	// tableNames returns the query of the names of all tables.
	tableNames(at *url.URL) string
	// limitUse returns the query of how many jobs each limit counts, or an empty text if the
	// store counts running jobs instead.
	limitUse() string
	// moved is called after the clock in the database was moved.
	moved(ctx context.Context, admin *sql.DB) error
	// fenceRange returns a range of numbers that contains all fences and no times.
	fenceRange() (from, to int64)
	// warm makes a store remember what a claim remembers for the next one.
	warm(ctx context.Context, s Store, node fairlead.NodeID) error
	// oneWriter reports whether every operation that writes waits for a caller's transaction.
	oneWriter() bool
	// changeLimits returns the statement that announces that the limits have changed.
	changeLimits() string
	// waiting returns the client ports of the connections that wait for a lock.
	waiting(ctx context.Context, admin *sql.DB) ([]int, error)
	// connected returns the client ports of all connections.
	connected(ctx context.Context, admin *sql.DB) ([]int, error)
	// within returns the store inside a caller's transaction.
	within(s Store, tx *sql.Tx) driver.Tx
}

// idFloor is the smallest id that a store assigns. A number from here to idCeiling is an id,
// also inside a string.
const (
	idFloor   = 5_000_000
	idCeiling = 2_000_000_000
)

// queryTimeout is the timeout of each call of the stores.
const queryTimeout = 30 * time.Second

// firstScene is the time by the database's clock at which the first scene begins.
var firstScene = time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)

// afterScenes is later than the end of the last scene.
var afterScenes = firstScene.AddDate(10, 0, 0)

// openDatabase prepares an empty database.
func openDatabase(ctx context.Context, d dialect, at string) (*database, error) {
	parsed, err := url.Parse(at)
	if err != nil {
		return nil, err
	}
	admin, err := d.connect(parsed)
	if err != nil {
		return nil, err
	}
	db := &database{dialect: d, url: parsed, admin: admin}
	if err := db.fill(ctx); err != nil {
		return nil, fmt.Errorf("prepare the %s database: %w", d.name(), err)
	}
	return db, nil
}

func (db *database) fill(ctx context.Context) error {
	// The first store creates the tables, which the dialect then prepares.
	if _, err := db.admin.ExecContext(ctx, "create table test_clock (us bigint not null)"); err != nil {
		return err
	}
	if _, err := db.admin.ExecContext(ctx, fmt.Sprintf("insert into test_clock values (%d)", firstScene.UnixMicro())); err != nil {
		return err
	}
	if err := db.moved(ctx, db.admin); err != nil {
		return err
	}
	s, err := db.open(ctx, db.url.String())
	if err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	if err := db.prepare(ctx, db.admin); err != nil {
		return err
	}
	return db.findTables(ctx)
}

// lasting are the tables that no scene empties: what stores remember forever, and the clock.
var lasting = map[string]bool{
	"test_clock": true, "fairlead_migration": true, "fairlead_lane": true, "fairlead_secret": true, "fairlead_server": true,
	"fairlead_rules": true, "fairlead_fence": true, "fairlead_gate": true, "fairlead_holdset": true, "fairlead_listener": true, "fairlead_counter": true,
}

func (db *database) findTables(ctx context.Context) error {
	rows, err := db.admin.QueryContext(ctx, db.tableNames(db.url))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var table string
		if err := rows.Scan(&table); err != nil {
			return err
		}
		if !lasting[table] {
			db.tables = append(db.tables, table)
		}
	}
	looks := make([]string, len(db.tables))
	for i, table := range db.tables {
		looks[i] = fmt.Sprintf("select '%[1]s' from (select 1 from %[1]s limit 1) t%[2]d", table, i)
	}
	db.filled = strings.Join(looks, " union all ")
	return rows.Err()
}

// withRows returns the tables that have rows.
func (db *database) withRows(ctx context.Context) (tables []string, err error) {
	rows, err := db.admin.QueryContext(ctx, db.filled)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var table string
		if err := rows.Scan(&table); err != nil {
			return nil, err
		}
		tables = append(tables, table)
	}
	return tables, rows.Err()
}

// next deletes what belongs to a scene, announces that the limits have changed, and moves the
// clock.
func (db *database) next(ctx context.Context) error {
	if err := db.clear(ctx); err != nil {
		return err
	}
	_, err := db.admin.ExecContext(ctx, fmt.Sprintf("%s; update test_clock set us = us + %d", db.changeLimits(), time.Second.Microseconds()))
	if err != nil {
		return err
	}
	return db.moved(ctx, db.admin)
}

// clear deletes all rows that belong to a scene. Meanwhile, a loop of a store may still move a
// job to a table that was empty a moment ago, so clear repeats until it finds nothing.
func (db *database) clear(ctx context.Context) error {
	for {
		tables, err := db.withRows(ctx)
		if err != nil || len(tables) == 0 {
			return err
		}
		var b strings.Builder
		for _, table := range tables {
			fmt.Fprintf(&b, "delete from %s; ", table)
		}
		if _, err := db.admin.ExecContext(ctx, b.String()); err != nil {
			return err
		}
	}
}

// advance moves the clock.
func (db *database) advance(ctx context.Context, d time.Duration) error {
	if _, err := db.admin.ExecContext(ctx, fmt.Sprintf("update test_clock set us = us + %d", d.Microseconds())); err != nil {
		return err
	}
	return db.moved(ctx, db.admin)
}

// through returns the database's URL by way of a valve.
func (db *database) through(v valve) *url.URL {
	u := *db.url
	u.Host = v.addr()
	return &u
}

// server has the common parts of the dialects of database servers.
type server struct{}

func (server) tableNames(at *url.URL) string {
	return "select table_name from information_schema.tables where table_type = 'BASE TABLE' and table_name like 'fairlead%' and table_schema in ('public', '" +
		at.Path[1:] + "') order by table_name"
}

func (server) limitUse() string {
	return "select q.id, q.used + coalesce((select sum(d.n) from fairlead_quota_delta d where d.quota = q.id), 0) from fairlead_quota q"
}

// moved implements dialect: the stores read the clock from its table.
func (server) moved(context.Context, *sql.DB) error { return nil }

// fenceRange implements dialect: fences begin at the time in microseconds at which the database
// was first used.
func (server) fenceRange() (from, to int64) { return 1_700_000_000_000_000, firstScene.UnixMicro() }

// warm implements dialect: what these stores remember outlives a scene.
func (server) warm(context.Context, Store, fairlead.NodeID) error { return nil }

func (server) oneWriter() bool { return false }

// ports reads the port numbers at the end of the strings that a query returns.
func ports(ctx context.Context, admin *sql.DB, query string) (ports []int, err error) {
	rows, err := admin.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var host sql.NullString
		if err := rows.Scan(&host); err != nil {
			return nil, err
		}
		if port, err := strconv.Atoi(host.String[strings.LastIndexByte(host.String, ':')+1:]); err == nil {
			ports = append(ports, port)
		}
	}
	return ports, rows.Err()
}
