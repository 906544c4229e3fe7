// Package mysql keeps jobs in MySQL (8.0.13 or later) or MariaDB (10.6 or
// later).
//
//	store, err := mysql.Open(ctx, "mysql://user:password@host:3306/database")
//
// # How it moves jobs
//
// A move is a short transaction at READ COMMITTED: it locks the job's row in its place,
// decides by what it finds there, deletes that row and inserts another. It reads what
// else it needs in a statement after the lock. Claims and housekeeping skip rows that
// other transactions have locked, so they never wait. The store retries whole
// transactions after deadlocks and lock timeouts.
//
// # Many lanes
//
// From some hundred lanes on, a claim does not read each. The process remembers where
// the ready jobs of lanes begin, as a lower bound. It reads a lane again after a wake,
// from this process or another, and after a second in any case. A claim considers lanes
// in the remembered order, and reads them before it takes anything.
//
// # Limits
//
// A claim locks the limits of the lanes that it takes from and writes their use. A
// transaction that ends or moves a running job only inserts what the job gives back,
// and never waits for a claim. A running job carries the set of limits that it counts
// against, so it gives back what it took. If other limits apply to it from now on (one
// is set where there was none, or removed, or a tenant changes its parent), it is moved
// to another set. That change waits for open transactions of callers that have settled
// jobs, and claims wait for the change.
//
// # Gates
//
// A transaction that parks a job or gives back a place also posts the gate to
// gate_news, and never waits for the gate. After its commit, the gate admits in a
// separate transaction, which waits for its turn at the gate and locks the rules as
// claims do. If the process dies in between, the gate_news rows stay, and the next
// Promote of any process admits.
//
// # Schedules
//
// A transaction that acts upon a schedule has locked the schedule's row and its open
// runs, those that had not ended when they were last read. A job that ends does not
// touch its schedule: each tick looks for open runs that are done by now.
//
// # Batches
//
// A transaction that acts upon a batch has locked the batch's row. A job that ends does
// not touch its batch: the transaction that acts upon the batch reads which of the
// released jobs are done by now.
//
// # Sweeps
//
// A transaction that steers a sweep has locked the sweep's row. Runs of shards store
// their progress in separate rows, which they write together with the row of their
// running job, without reading the sweep: neither waits for the other.
//
// # A server that lost its last commits
//
// A failover, a crash and a restore may take back commits that processes have seen.
// Each connection reads its server's identity and start. All processes agree in one row
// on the server they use, and drop what they have cached if that changes. Cached values
// are compared nevertheless: the statement that reads the clock for new jobs compares
// their lanes with the database, a claim reads the names of the lanes that it locks
// jobs of, and a node's row has a token and its last beat. No lane is locked for that.
// Fences follow the clock, and ids jump over those that may have been given out before.
//
// # What it needs of the server
//
// The store needs the rights select, insert, update and delete in the database; to
// bring its schema up to date also create, alter, drop and create view. It needs a
// max_allowed_packet of at least 8 MiB, which is less than the default. It needs one
// server that takes all writes: row locks of Galera and of group replication are local
// to one member (a process that reaches another member of a Galera cluster than the
// others is refused). A binary log must be by rows (the default), because READ
// COMMITTED allows nothing else.
//
// A process that is stopped inside a transaction hides the rows it had locked until the
// server ends the transaction, after Options.IdleLimit. MariaDB has a limit for exactly
// that. MySQL has not, so there the server closes every connection that was idle for as
// long, and the store opens it again when needed.
//
// InnoDB removes deleted rows only when no older snapshot needs them: beside a
// transaction at REPEATABLE READ that stays open for very long, claims read over the
// remains of all jobs claimed since.
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

// Options configures a store. The zero value is useful.
type Options struct {
	// Prefix of the names of all tables; "fairlead_" if empty.
	Prefix string
	// NoMigrate makes Open fail if the schema is not current, instead of
	// bringing it up to date.
	NoMigrate bool
	// SchemaOnly opens the store whatever the version of its tables. Only Migrate, Schema,
	// Script and Close may then be called.
	SchemaOnly bool
	// QueryTimeout bounds every call whose context has no earlier deadline; 30
	// seconds if zero.
	QueryTimeout time.Duration
	// IdleLimit is how long the server keeps an idle transaction open, in whole
	// seconds; 5 seconds if zero.
	IdleLimit time.Duration
	// MaxConns bounds the connections that move and read jobs; 16 if zero. Beats
	// and other short statements have up to 4 more.
	MaxConns int
	// WakeAddr is the UDP address on which this process receives wakes from other
	// processes: an IP address that they can reach and a port, which may be 0. The
	// default, 127.0.0.1:0, receives those of processes on this machine; polling finds the
	// jobs of others. "-" disables wakes between processes.
	WakeAddr string
	// Waiting is called when Open or Migrate has waited for other connections for longer
	// than a second, with a description of what it waits for, and again if that changes.
	// It may be nil.
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

// Store is a driver.Store, an access.Store and a driver.Migrator.
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

	refreshing     sync.Mutex   // held while new lanes are read
	lanesGone      atomic.Bool  // lanes were dropped: laneFloor no longer holds
	laneTop        int32        // the largest lane id read
	laneFloor      int32        // no new lane has a smaller id
	laneNewest     int32        // the largest id when laneFloor was raised
	laneRaised     time.Time    // when laneFloor was raised
	refreshed      atomic.Int64 // when lanes were last read
	lanesRemoved   atomic.Int64 // how many lanes had been removed when the cache last looked for removed lanes
	lanesKept      atomic.Int64 // how many lanes remained then
	rules          atomic.Pointer[rules]
	laneHeads      laneHeads
	sets           quotaSets
	wishes         wishCache
	tasks          sqlstore.TaskCache
	calendarRounds sqlstore.CalendarRounds
	bodies         sqlstore.ScheduleBodies
	openSeen       atomic.Int64 // up to which id open runs were looked through; 0: to the last
	heldUp         sqlstore.HeldUp
	reholding      sqlstore.Reholding
	crowded        atomic.Bool // the last tick took as many due schedules as it could
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
		return o, fmt.Errorf("WakeAddr %q: use the IP address and port at which other processes can reach this one, such as 10.1.2.3:0", o.WakeAddr)
	}
	return o, nil
}

// expand replaces {{name}} in the statements. Tables are named with their database,
// because a caller's transaction may use another one.
func (s *Store) expand(name string) string {
	switch name {
	case "turn", "start_by", "id", "rows", "ids", "among", "spans", "lane_id", "gate_id", "solo", "limit", "fence_no", "node_id", "clock", "set", "wait", "choice", "named", "fresh", "mark",
		"index", "batch_id", "chosen", "known", "kind", "after", "tenant_name", "key_name", "count", "number", "into", "list", "end":
		return "{{" + name + "}}" // filled by every call
	case "running_sweep":
		return "{{" + name + "}}" // filled in after all are loaded
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

// Close ends all connections.
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

// Now returns the database's clock.
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
