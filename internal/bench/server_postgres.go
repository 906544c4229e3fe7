package bench

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// postgresServer observes the server through a separate connection.
type postgresServer struct {
	config *pgx.ConnConfig
	conn   *pgx.Conn
	pid    int // ID of the server's main process; zero if it is on another machine

	counts bool // whether the server counts statements
}

func openPostgres(ctx context.Context, url string) (*postgresServer, error) {
	// The URL may contain settings that only a pool accepts.
	pool, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("observe PostgreSQL: %w", err)
	}
	conn, err := pgx.ConnectConfig(ctx, pool.ConnConfig)
	if err != nil {
		return nil, fmt.Errorf("observe PostgreSQL: %w", err)
	}
	s := &postgresServer{config: pool.ConnConfig, conn: conn}
	var backend int
	var host string
	err = conn.QueryRow(ctx, "select pg_backend_pid(), coalesce(host(inet_server_addr()), '')").Scan(&backend, &host)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("observe PostgreSQL: %w", err), s.Close())
	}
	if onThisMachine(host) && isProgram(backend, "postgres") {
		if stat, err := readProcStat(backend); err == nil {
			s.pid = stat.parent
		}
	}
	// The view is readable only if the library was loaded at the start of the server.
	_, err = conn.Exec(ctx, "select sum(calls) from pg_stat_statements")
	s.counts = err == nil
	return s, nil
}

// Name implements Server.
func (s *postgresServer) Name() string { return "postgres" }

// Usage implements Server.
func (s *postgresServer) Usage(ctx context.Context) (Usage, error) {
	var u Usage
	if err := s.conn.QueryRow(ctx, "select (pg_current_wal_lsn() - '0/0')::bigint").Scan(&u.WAL); err != nil {
		return Usage{}, fmt.Errorf("read the position of PostgreSQL's log: %w", err)
	}
	if s.counts {
		if err := s.conn.QueryRow(ctx, "select sum(calls)::bigint from pg_stat_statements").Scan(&u.Statements); err != nil {
			return Usage{}, fmt.Errorf("read how many statements PostgreSQL has run: %w", err)
		}
	}
	if s.pid == 0 {
		return u, nil
	}
	var err error
	u.CPU, err = ServerTime(s.pid)
	return u, err
}

// HoldSnapshot implements Server.
func (s *postgresServer) HoldSnapshot(ctx context.Context) (func() error, error) {
	conn, err := pgx.ConnectConfig(ctx, s.config)
	if err != nil {
		return nil, err
	}
	// The first statement that needs a snapshot takes it.
	const open = "set idle_in_transaction_session_timeout = 0; begin isolation level repeatable read; select count(*) from pg_class"
	release := func() error { return conn.Close(context.WithoutCancel(ctx)) }
	if _, err := conn.Exec(ctx, open, pgx.QueryExecModeSimpleProtocol); err != nil {
		return nil, errors.Join(err, release())
	}
	return release, nil
}

// Close implements Server.
func (s *postgresServer) Close() error { return s.conn.Close(context.Background()) }
