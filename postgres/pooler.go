package postgres

import (
	"context"
	"fmt"

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

// connect creates the pools, after it has looked at the other end.
func (s *Store) connect(ctx context.Context, at endpoint) (first session, err error) {
	if first, err = s.meet(ctx, at.config); err != nil {
		return first, explainConnect(err)
	}
	if err := foreignEngine(first.banner, first.version); err != nil {
		return first, err
	}
	s.pooled = first.pooled
	if err := at.suit(first); err != nil {
		return first, err
	}
	if s.beats, err = fewConns(ctx, at.config, beatConns); err != nil {
		return first, err
	}
	s.seats = sqlstore.NewSeats(int(at.config.MaxConns))
	if s.pool = at.pool; s.pool != nil {
		s.beside, err = fewConns(ctx, at.config, besideConns)
	} else {
		s.pool, err = pgxpool.NewWithConfig(ctx, at.config)
	}
	if err != nil {
		s.beats.Close()
	}
	return first, err
}

// fewConns returns a small pool that makes connections when they are needed.
func fewConns(ctx context.Context, config *pgxpool.Config, most int32) (*pgxpool.Pool, error) {
	few := config.Copy()
	few.MaxConns, few.MinConns, few.MinIdleConns = most, 0, 0
	return pgxpool.NewWithConfig(ctx, few)
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

// errListenPooled refuses a ListenURL that leads to a pooler.
var errListenPooled = fmt.Errorf("the URL points to a connection pooler, which cannot deliver notifications; use the server's own URL, or \"%s\" to poll", noListening)

// listenAt returns where to listen. It returns nil for nowhere: through a pooler, which
// would keep the LISTEN in a session that serves other clients a moment later. It refuses a
// ListenURL at which listening cannot work. A server that cannot be reached now may be
// reachable later.
func (s *Store) listenAt(ctx context.Context, at endpoint) (*pgxpool.Config, error) {
	switch {
	case s.options.ListenURL == noListening, s.options.ListenURL == "" && s.pooled:
		return nil, nil
	case s.options.ListenURL == "":
		return at.config, nil
	}
	config, err := parseURL(s.options.ListenURL)
	if err == nil && !s.options.SchemaOnly {
		if found, metErr := s.meet(ctx, config); metErr == nil && found.pooled {
			err = errListenPooled
		}
	}
	if err != nil {
		return nil, fmt.Errorf("parse the URL to listen on: %w", err)
	}
	return config, nil
}
