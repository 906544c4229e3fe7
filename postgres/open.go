package postgres

import (
	"context"
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

const (
	defaultPrefix       = "fairlead_"
	defaultQueryTimeout = 30 * time.Second
	defaultIdleLimit    = 5 * time.Second

	beatConns = 2
	idBlock   = 1000 // increment of the jobid sequence
)

// Open opens the store in a database, and creates its tables or upgrades them. The url is
// either a URL such as postgres://user:password@host/database or a keyword string, as
// accepted by pgx. Open returns an error that wraps ErrUnavailable if the server cannot be
// reached or is busy.
func Open(ctx context.Context, url string) (*Store, error) { return OpenWith(ctx, url, Options{}) }

// OpenWith opens a store like Open, with the given options. It returns an error if
// options.NoMigrate is set and the tables are not up to date.
func OpenWith(ctx context.Context, url string, options Options) (*Store, error) {
	config, err := parseURL(url)
	if err != nil {
		return nil, fmt.Errorf("open postgres store: %w", err)
	}
	return openAt(ctx, endpoint{config: config, modeChosen: strings.Contains(url, execMode)}, options)
}

// openAt opens a store that connects to the given endpoint.
func openAt(ctx context.Context, at endpoint, options Options) (*Store, error) {
	if options.Prefix == "" {
		options.Prefix = defaultPrefix
	}
	if options.QueryTimeout <= 0 {
		options.QueryTimeout = defaultQueryTimeout
	}
	if options.IdleLimit <= 0 {
		options.IdleLimit = defaultIdleLimit
	}
	s := &Store{options: options, laneCursors: newLaneCursors(), laneHeads: &laneHeads{}}
	first, err := s.connect(ctx, at)
	if err != nil {
		return nil, fmt.Errorf("open postgres store: %w", unavailable(ctx, err))
	}
	if err := s.prepare(ctx, at, first); err != nil {
		s.disconnect()
		return nil, fmt.Errorf("open postgres store: %w", unavailable(ctx, err))
	}
	return s, nil
}

// prepare reads what the statements depend on and loads them.
func (s *Store) prepare(ctx context.Context, at endpoint, first session) error {
	listenAt, err := s.listenAt(ctx, at)
	if err != nil {
		return err
	}
	if err := s.adoptSession(first); err != nil {
		return err
	}
	if err := checkNames(s.schema, s.options.Prefix); err != nil {
		return err
	}
	expand := expander(s.schema, first.version, s.options)
	if err := sqlstore.LoadStatements(files, sqlstore.PostgreSQL, expand, &s.sql); err != nil {
		return err
	}
	s.sql.fillIn()
	if s.migrations, err = sqlstore.LoadMigrations(files, expand); err != nil {
		return err
	}
	s.server.Store(s.newServer(0, time.Time{}))
	s.limitsLock = lockKey(s.schema, s.options.Prefix, "rules")
	s.laneLock = int32(lockKey(s.schema, s.options.Prefix, "lane"))
	s.lanes.Lanes = sqlstore.NewLanes()
	s.query = &sqlstore.Query{
		Expand: expand,
		Arg:    func(n int) string { return fmt.Sprintf("$%d", n) },
		NoJSON: "null::json", Unlucky: true, FailedLanes: true, Open: "open",
		Lanes: s.lanes.Lanes,
		Probe: func(column, value string) string { return column + " = any (array[" + value + "])" }, // see pin
	}
	s.features = sqlstore.NewFeatures(database{s}, &s.sql.FeatureStatements, s.query)
	s.fair = sqlstore.NewFair(database{s}, &s.sql.FeatureStatements)
	s.commits = sqlstore.NewCommits(database{s}, &s.sql.CommitStatements)
	s.ids = &sqlstore.IDs{Size: idBlock, Alloc: s.takeIDs}
	s.pending = &sqlstore.Pending{Read: s.readBounds, Tally: s.Tally}
	if err := s.checkSchema(ctx); err != nil {
		return err
	}
	if !s.options.SchemaOnly {
		if err := s.meetServer(ctx); err != nil {
			return err
		}
	}
	channel := fmt.Sprintf("%swake_%x", s.options.Prefix, uint32(lockKey(s.schema, s.options.Prefix, "wake")))
	hub := sqlstore.NewHub()
	s.merges.prepare(&s.sql)
	s.tokens = sqlstore.NewAlarm(func() { hub.Work(nil) })
	s.notifier = newNotifier(s, hub, channel)
	s.listener = newListener(s, hub, channel, listenAt)
	return nil
}

// adoptSession takes over the settings of a session.
func (s *Store) adoptSession(first session) error {
	s.wrap = first.isolation != "read committed"
	switch {
	case s.options.Schema != "":
		s.schema = s.options.Schema
	case first.schema != nil:
		s.schema = *first.schema
	default:
		return fmt.Errorf("none of the schemas in search_path exists: create one or name it in Options.Schema")
	}
	return nil
}

// meetServer recognises the server.
func (s *Store) meetServer(ctx context.Context) error {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	return s.recognise(ctx, s.server.Load())
}

func (s *Store) checkSchema(ctx context.Context) error {
	if s.options.SchemaOnly {
		return nil
	}
	status, err := s.Schema(ctx)
	if err != nil || len(status.Pending) == 0 {
		return err
	}
	if s.options.NoMigrate {
		return fmt.Errorf("the tables in schema %q are out of date (pending: %v): run fairlead migrate up", s.schema, status.Pending)
	}
	_, err = s.Migrate(ctx)
	return err
}

// lockKey returns the key of an advisory lock. Stores with other tables in the same
// database get other keys.
func lockKey(schema, prefix, purpose string) int64 {
	h := fnv.New64a()
	for _, part := range []string{"fairlead", schema, prefix, purpose} {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	return int64(h.Sum64())
}
