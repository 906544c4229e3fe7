package mysql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"

	"github.com/go-sql-driver/mysql"

	"github.com/fairlead-io/fairlead/internal/mysqlurl"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// Open opens the store in a database. It creates the store's tables or brings them up to
// date.
//
// The url has the form mysql://user:password@host:port/database?name=value…. Its parameters
// are the driver's own, such as tls=true, and socket=/path for a Unix socket instead of host
// and port. Open returns an error that wraps ErrUnavailable if the server cannot be reached
// or is busy.
func Open(ctx context.Context, url string) (*Store, error) {
	return OpenWith(ctx, url, Options{})
}

// OpenWith opens a store like Open, with the given options. It returns an error if
// options.NoMigrate is set and the tables are not up to date.
func OpenWith(ctx context.Context, url string, options Options) (*Store, error) {
	s, err := open(url, options)
	if err != nil {
		return nil, fmt.Errorf("open mysql store: %w", err)
	}
	if err := s.start(ctx); err != nil {
		_ = s.Close() // the first error counts
		return nil, fmt.Errorf("open mysql store: %w", unavailable(ctx, err))
	}
	return s, nil
}

// start makes sure that the schema is current, and prepares statements for it.
func (s *Store) start(ctx context.Context) error {
	if s.options.SchemaOnly {
		return nil
	}
	if err := s.awaitMember(ctx); err != nil {
		return err
	}
	if err := s.bringUp(ctx); err != nil {
		return err
	}
	if _, err := s.meetOnce(ctx, noLoss); err != nil && !readOnly(err) { // a process that only reads need not agree on the server
		return err
	}
	return patiently(ctx, &refusals{patience: s.migratePatience}, func() error { return s.prepareClaims(ctx) })
}

// awaitMember waits until the server is a member of its cluster, if it has one.
func (s *Store) awaitMember(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, migratePatience)
	defer cancel()
	return s.galera.awaitMember(ctx)
}

func (s *Store) prepareClaims(ctx context.Context) (err error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	if s.claimOpening == nil { // otherwise an earlier try has prepared it
		if s.claimOpening, err = s.db.PrepareContext(ctx, s.sql.ClaimCheck); err != nil {
			return err
		}
	}
	s.claimLane, err = s.db.PrepareContext(ctx, s.sql.ClaimLane)
	return err
}

func open(url string, options Options) (*Store, error) {
	options, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	config, err := mysqlurl.Parse(url)
	if err != nil {
		return nil, err
	}
	s := &Store{options: options, migratePatience: migratePatience, database: config.DBName, lanes: sqlstore.NewLanes(), hub: sqlstore.NewHub()}
	s.handshake = &handshake{address: config.Addr, patience: handshakePatience}
	s.galera = &galera{store: s}
	config.DialFunc = dial
	config.ClientFoundRows = true // a beat within one microsecond of the last changes nothing
	s.alarm = sqlstore.NewAlarm(func() { s.hub.Work(nil) })
	if err := sqlstore.LoadStatements(files, sqlstore.MySQL, s.expand, &s.sql); err != nil {
		return nil, err
	}
	s.sql.fillIn()
	s.engine = &engine{question: s.sql.Engine}
	if s.schema, err = sqlstore.LoadMigrations(files, s.expand); err != nil {
		return nil, err
	}
	s.signer = &signer{store: s}
	s.notifier, s.listener = newNotifier(s), &listener{store: s}
	s.ids = sqlstore.IDs{Size: idBlock, Alloc: s.takeIDs}
	s.pending = &sqlstore.Pending{Read: s.readBounds, Tally: s.Tally}
	s.query = sqlstore.Query{Expand: s.expand, Arg: func(int) string { return "?" }, NoJSON: "null", Lanes: s.lanes, ByOutcome: " force index (age)", ByID: " force index (primary)", Join: "straight_join", Open: "open = 1", AuditIndexes: auditIndexes}
	s.features = sqlstore.NewFeatures(database{s}, &s.sql.FeatureStatements, &s.query)
	s.fair = sqlstore.NewFair(database{s}, &s.sql.FeatureStatements)
	s.commits = sqlstore.NewCommits(database{s}, &s.sql.CommitStatements)
	if s.lifeline, err = s.pool(config, lifelineConns); err != nil {
		return nil, err
	}
	several := config.Clone()
	several.MultiStatements = true // for bundles
	s.db, err = s.pool(several, options.MaxConns)
	s.seats = sqlstore.NewSeats(options.MaxConns)
	return s, err
}

// pool returns a set of connections. It closes idle ones well before a server that
// limits idle connections does.
func (s *Store) pool(config *mysql.Config, size int) (*sql.DB, error) {
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(session{Connector: connector, greeting: s.handshake, engine: s.engine, galera: s.galera, setup: s.sql.Session, pooled: s.serverConn})
	db.SetMaxOpenConns(size)
	db.SetMaxIdleConns(size)
	db.SetConnMaxIdleTime(s.options.IdleLimit / 2)
	return db, nil
}

// session makes connections with the store's own settings.
type session struct {
	driver.Connector
	greeting *handshake
	engine   *engine
	galera   *galera
	setup    string
	pooled   func(context.Context, driver.Conn) (driver.Conn, error)
}

// Connect opens a connection, sets it up and recognises its server.
func (c session) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.greeting.connect(ctx, c.Connector)
	if err != nil {
		return nil, err
	}
	if err := c.engine.check(ctx, conn); err != nil {
		_ = conn.Close() // the first error counts
		return nil, err
	}
	execer, ok := conn.(driver.ExecerContext)
	if !ok {
		return nil, fmt.Errorf("the driver's %T cannot execute statements", conn)
	}
	if _, err := execer.ExecContext(ctx, c.setup, nil); err != nil {
		_ = conn.Close() // the first error counts
		return nil, fmt.Errorf("set up session: %w", err)
	}
	admitted, err := c.galera.admit(ctx, conn)
	if err != nil {
		_ = conn.Close() // the first error counts
		return nil, err
	}
	pooled, err := c.pooled(ctx, admitted)
	if err != nil {
		_ = conn.Close() // the first error counts
		return nil, err
	}
	return pooled, nil
}
