package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// A pooler such as PgBouncer in transaction mode runs each transaction in another
// session of the server. The store must then leave nothing in a session: no prepared
// statement, no setting, no LISTEN. A prepared statement would be missing in the next
// session (26000), or exist already (42P05).
//
// The process id of the session reveals a pooler: the server reports it when a
// connection is made, and when asked. A pooler makes up the first one, because it has
// no session to assign yet.

// describeSession reads what the store needs to know of a session.
const describeSession = "select current_schema()::text, current_setting('default_transaction_isolation'), pg_backend_pid(), current_setting('server_version_num')::int, version()"

// execMode is the parameter of the URL that chooses how statements are sent. A user who
// has set it knows the pooler.
const execMode = "default_query_exec_mode"

// session is what the server reports about a session, and whether a pooler is in
// between.
type session struct {
	schema    *string
	isolation string
	pooled    bool
	version   int // server_version_num
	banner    string
}

// describe reads a session without leaving anything in it.
func describe(ctx context.Context, conn *pgx.Conn) (s session, err error) {
	var pid uint32
	err = conn.QueryRow(ctx, describeSession, pgx.QueryExecModeExec).Scan(&s.schema, &s.isolation, &pid, &s.version, &s.banner)
	s.pooled = pid != conn.PgConn().PID()
	return s, err
}

// connect creates the pools, after it has looked at what is at the other end.
func (s *Store) connect(ctx context.Context, url string) (first session, err error) {
	config, err := parseURL(url)
	if err != nil {
		return first, err
	}
	if first, err = s.meet(ctx, config); err != nil {
		return first, explainConnect(err)
	}
	if err := foreignEngine(first.banner, first.version); err != nil {
		return first, err
	}
	s.pooled = first.pooled
	if s.pooled && !strings.Contains(url, execMode) {
		config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	}
	if s.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return first, err
	}
	s.seats = sqlstore.NewSeats(int(config.MaxConns))
	few := config.Copy()
	few.MaxConns, few.MinConns, few.MinIdleConns = 2, 0, 0
	if s.beats, err = pgxpool.NewWithConfig(ctx, few); err != nil {
		s.pool.Close()
	}
	return first, err
}

// meet describes a session at a server.
func (s *Store) meet(ctx context.Context, config *pgxpool.Config) (found session, err error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	conn, err := connectAs(ctx, config)
	if err != nil {
		return found, err
	}
	defer func() { _ = conn.Close(ctx) }()
	return describe(ctx, conn)
}

// listenURL returns where to listen. It is nowhere through a pooler, which would keep
// the LISTEN in a session that serves other clients a moment later.
func (s *Store) listenURL(url string) string {
	switch {
	case s.options.ListenURL != "":
		return s.options.ListenURL
	case s.pooled:
		return noListening
	}
	return url
}

// errListenPooled refuses a ListenURL that leads to a pooler.
var errListenPooled = fmt.Errorf("the URL points to a connection pooler, which cannot deliver notifications; use the server's own URL, or \"%s\" to poll", noListening)

// checkListenURL refuses a URL at which listening cannot work. A server that cannot be
// reached now may be reachable later.
func (s *Store) checkListenURL(ctx context.Context) error {
	if s.options.ListenURL == "" || s.options.ListenURL == noListening || s.options.SchemaOnly {
		return nil
	}
	config, err := parseURL(s.options.ListenURL)
	if err != nil {
		return fmt.Errorf("parse the URL to listen on: %w", err)
	}
	found, err := s.meet(ctx, config)
	if err == nil && found.pooled {
		return fmt.Errorf("parse the URL to listen on: %w", errListenPooled)
	}
	return nil
}
