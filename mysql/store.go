// Package mysql stores jobs in MariaDB (10.6 or later) or MySQL (8.0.13 or later).
//
//	store, err := mysql.Open(ctx, "mysql://user:password@host:3306/database")
//
// # Moves
//
// A move is a short transaction at READ COMMITTED: it locks the job's row in its place,
// decides by that row, deletes it and inserts another. It reads all further data in
// statements after the lock. Claims and housekeeping skip rows that other transactions
// have locked, so they never wait. The store retries whole transactions after deadlocks
// and lock timeouts.
//
// # Many lanes
//
// With more than a few hundred lanes, a claim does not read all of them. The process
// remembers a lower bound of the position at which the ready jobs of each lane begin. It
// reads a lane again after a wake, from this process or another, and at least once a
// second. A claim considers lanes in the remembered order, and reads them before it takes
// any job.
//
// # Limits
//
// A claim locks the limits of its lanes and writes their use. A transaction that ends or
// moves a running job only inserts the use that the job returns, and never waits for a
// claim. A running job records the set of limits that it counts against, so it returns
// exactly the use that it took. If other limits come to apply to it (a limit is added or
// removed, or a tenant changes its parent), the job moves to another set. That change
// waits for open transactions of callers that have settled jobs, and claims wait for the
// change.
//
// # Gates
//
// A transaction that parks a job or frees a place also inserts the gate into gate_news,
// and never waits for the gate. After its commit, the gate admits jobs in a separate
// transaction, which waits for its turn at the gate and locks the limits as claims do. If
// the process dies in between, the gate_news rows stay, and the next Promote of any
// process admits the jobs.
//
// # Schedules
//
// A transaction that acts on a schedule locks the schedule's row and its open runs: the
// runs that had not ended when they were last read. A job that ends does not touch its
// schedule: each tick looks for open runs that have ended.
//
// # Batches
//
// A transaction that acts on a batch locks the batch's row. A job that ends does not
// touch its batch: the transaction that acts on the batch looks for released jobs that
// have ended.
//
// # Sweeps
//
// A transaction that steers a sweep locks the sweep's row. Runs of shards store their
// progress in separate rows, which they write together with the row of their running
// job, without reading the sweep: neither waits for the other.
//
// # Lost commits
//
// A failover, a crash or a restore may undo commits that processes have seen. Each
// connection reads its server's identity and start time. All processes agree on the
// current server through one row, and drop their caches when it changes. They also verify
// cached values: the statement that reads the clock for new jobs compares their lanes
// with the database, a claim reads the names of the lanes in which it locks jobs, and a
// node's row contains a token and its last beat. No lane is locked for that. Fences
// follow the clock, and IDs skip values that may have been issued before.
//
// # Server requirements
//
// The store needs the privileges select, insert, update and delete in the database; to
// bring the tables up to date also create, alter, drop and create view. It needs a
// max_allowed_packet of at least 8 MiB, which is less than the default. All writes must
// go to one server: row locks of Galera and of group replication are local to one member
// (the store refuses a process that reaches another member of a Galera cluster than the
// other processes). A binary log must be row-based (the default), because READ COMMITTED
// allows no other format.
//
// A process that is suspended inside a transaction hides the rows that it has locked until
// the server ends the transaction, after Options.IdleLimit. MariaDB has a limit for idle
// transactions. MySQL has none, so there the server closes every connection that was idle
// for as long, and the store reopens it when needed.
//
// InnoDB removes deleted rows only when no older snapshot needs them: during a very long
// transaction at REPEATABLE READ, claims read past the remains of all jobs claimed since
// it began.
package mysql

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"net/netip"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Options configures a store. The zero value is valid.
type Options struct {
	// Prefix is the prefix of the names of all tables; default "fairlead_".
	Prefix string
	// NoMigrate prevents Open from creating or changing tables. Open then returns an error
	// if they are not current.
	NoMigrate bool
	// SchemaOnly opens the store with tables of any version. Only Migrate, Schema, Script
	// and Close may then be called.
	SchemaOnly bool
	// QueryTimeout is the timeout of each call, unless its context ends earlier; default
	// 30s.
	QueryTimeout time.Duration
	// IdleLimit is the time after which the server ends an idle transaction of this store,
	// in whole seconds; default 5s.
	IdleLimit time.Duration
	// MaxConns is the maximum number of connections that move and read jobs; default 16.
	// Beats and other short statements use up to 4 more.
	MaxConns int
	// WakeAddr is the UDP address on which this process receives notifications of new jobs
	// from other processes: an IP address that they can reach, and a port, which may be 0.
	// The default, 127.0.0.1:0, receives those of processes on this machine; nodes find the
	// jobs of processes on other machines by polling. "-" disables notifications between
	// processes.
	WakeAddr string
	// Waiting is called when Open or Migrate has waited for other connections for longer
	// than a second, with a description of the holder of the lock, and again if the holder
	// changes. It may be nil.
	Waiting func(whom string)
	// Now is an SQL expression, in microseconds, that replaces the database's clock in
	// tests.
	Now string
}

const (
	defaultPrefix       = "fairlead_"
	defaultQueryTimeout = 30 * time.Second
	defaultIdleLimit    = 5 * time.Second
	defaultMaxConns     = 16
	defaultWakeAddr     = "127.0.0.1:0" // receives wakes of this machine's processes
	lifelineConns       = 4
)

// utcNow is the server's clock at the instant of evaluation, not of the
// statement's start, in a session whose time zone is UTC.
const utcNow = "timestampdiff(microsecond, timestamp'1970-01-01 00:00:00', sysdate(6))"

//go:embed sql/*.sql migrations/*.sql
var files embed.FS

// features are what all stores do alike.
type features = sqlstore.Features

// Store is a driver.Store that uses MariaDB or MySQL. It also implements access.Store,
// driver.Migrator and driver.Restorer.
type Store struct {
	features
	options   Options
	database  string
	sql       statements
	schema    []sqlstore.Migration
	handshake *handshake
	galera    *galera
	engine    *engine

	migratePatience time.Duration // see the constant

	db    *sql.DB         // moves and reads jobs
	seats *sqlstore.Seats // of db
	// lifeline runs what must not queue: beats, and what transactions need from outside
	// themselves. None of its statements waits for the locks under which jobs are
	// moved.
	lifeline *sql.DB

	// claimOpening and claimLane are prepared: they are constant, run most often, and
	// parsing and planning them costs more than running them.
	claimOpening, claimLane *sql.Stmt

	ids sqlstore.IDs

	pending  *sqlstore.Pending
	fair     *sqlstore.Fair
	commits  *sqlstore.Commits
	lanes    *sqlstore.Lanes
	query    sqlstore.Query
	hub      *sqlstore.Hub
	alarm    *sqlstore.Alarm // wakes nodes when another claim is worthwhile
	notifier *notifier
	listener *listener
	signer   *signer

	known       atomic.Pointer[knownServer] // the server all processes last agreed on; nil until the store is open
	number      atomic.Int64                // of that server
	meeting     sqlstore.Lock               // held while a server is recognised
	tokens      sqlstore.NodeTokens         // of nodes that joined through this store
	lastNode    atomic.Int64                // the last node that joined here; zero if none did
	highestNode atomic.Int64                // the largest id of a node that joined here
	lastFence   atomic.Int64                // the largest one given out here
	outdated    outdatedCursors             // how far Prune has looked

	refreshing   sync.Mutex   // held while new lanes are read
	lanesGone    atomic.Bool  // lanes were dropped: laneFloor no longer holds
	laneTop      int32        // the largest lane id read
	laneFloor    int32        // no new lane has a smaller id
	laneNewest   int32        // the largest id when laneFloor was raised
	laneRaised   time.Time    // when laneFloor was raised
	refreshed    atomic.Int64 // when lanes were last read
	lanesRemoved atomic.Int64 // how many lanes had been removed when the cache last looked for removed lanes
	lanesKept    atomic.Int64 // how many lanes remained then
	limitConfig  atomic.Pointer[limitConfig]
	laneHeads    laneHeads
	sets         limitSets
	wishes       wishCache
	tasks        sqlstore.TaskCache
	openSeen     atomic.Int64 // up to which id open runs were looked through; 0: to the last
	reholding    sqlstore.Reholding
}

var (
	_ driver.Store    = (*Store)(nil)
	_ driver.Migrator = (*Store)(nil)
)

var prefixForm = regexp.MustCompile(`^[A-Za-z0-9_$]{0,40}$`)

// withDefaults fills in empty options and refuses those that cannot work.
func (o Options) withDefaults() (Options, error) {
	if o.Prefix == "" {
		o.Prefix = defaultPrefix
	}
	if !prefixForm.MatchString(o.Prefix) {
		return o, fmt.Errorf("invalid prefix %q: use at most 40 letters, digits and underscores: %w", o.Prefix, fairlead.ErrInvalid)
	}
	if o.QueryTimeout <= 0 {
		o.QueryTimeout = defaultQueryTimeout
	}
	if o.IdleLimit <= 0 {
		o.IdleLimit = defaultIdleLimit
	}
	if o.MaxConns <= 0 {
		o.MaxConns = defaultMaxConns
	}
	if o.Now == "" {
		o.Now = utcNow
	}
	if o.WakeAddr == "" {
		o.WakeAddr = defaultWakeAddr
	}
	if address, err := netip.ParseAddrPort(o.WakeAddr); o.WakeAddr != noWakes && (err != nil || address.Addr().IsUnspecified()) {
		return o, fmt.Errorf("invalid WakeAddr %q: use the IP address and port at which other processes can reach this one, such as 10.1.2.3:0", o.WakeAddr)
	}
	return o, nil
}

// expand replaces {{name}} in the statements. Tables are named with their database,
// because a caller's transaction may use another one.
func (s *Store) expand(name string) string {
	switch name {
	case "turn", "start_by", "id", "rows", "ids", "among", "spans", "lane_id", "gate_id", "solo", "limit", "fence_no", "node_id", "clock", "set", "wait", "choice", "named", "fresh", "mark",
		"index", "batch_id", "chosen", "known", "kind", "after", "tenant_name", "key_name", "count", "number", "into", "list", "end", "except", "json_rows":
		return "{{" + name + "}}" // filled by every call
	case "running_sweep":
		return "{{" + name + "}}" // filled in after all are loaded
	case "minimum":
		return "least"
	case "unless_taken":
		return unlessTaken
	case "now":
		return s.options.Now
	case "realtime":
		return utcNow
	case "member":
		return memberName
	case "member_lease":
		return decimal(memberLease.Microseconds())
	case "idle":
		return fmt.Sprint(int64((s.options.IdleLimit + time.Second - 1) / time.Second))
	}
	return quote(s.database) + "." + quote(s.options.Prefix+name)
}

// quote returns a quoted identifier. Double quotes would mean text in most sessions.
func quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// withTimeout bounds a call.
func (s *Store) withTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	return sqlstore.WithTimeout(ctx, s.options.QueryTimeout)
}

// Close closes the store's connections.
func (s *Store) Close() error {
	var err error
	s.commits.Close()
	s.alarm.Stop()
	s.hub.Close()
	s.listener.close()
	s.notifier.close()
	s.galera.close()
	for _, statement := range []*sql.Stmt{s.claimOpening, s.claimLane} {
		if statement != nil {
			err = firstError(err, statement.Close())
		}
	}
	return firstError(err, s.db.Close(), s.lifeline.Close())
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Now returns the current time of the database's clock.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	us, err := s.now(ctx)
	return sqlstore.Time(us), err
}

func (s *Store) now(ctx context.Context) (int64, error) {
	var us int64
	if err := one(ctx, s.lifeline, []any{&us}, s.sql.Now); err != nil {
		return 0, fmt.Errorf("read the clock: %w", err)
	}
	return us, nil
}
