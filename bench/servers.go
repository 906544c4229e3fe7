package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"

	"github.com/fairlead-io/fairlead/internal/testdb"
)

// Types of databases.
const (
	onPostgres = "postgres"
	onMariaDB  = "mariadb"
	onSQLite   = "sqlite"
	onRedis    = "redis"
)

// servers contains the private servers of a comparison. Each starts when it is first
// needed, with production settings for durability, and serves all systems.
type servers struct {
	postgres, mariadb *testdb.Server
}

// freshName is the database of the current measurement; there is one at a time.
const freshName = "measurement"

// fresh creates an empty database and returns its URL. drop removes it.
func (s *servers) fresh(ctx context.Context, kind string) (url string, drop func() error, err error) {
	switch kind {
	case onPostgres:
		return s.freshPostgres(ctx)
	case onMariaDB:
		return s.freshMariaDB(ctx)
	case onSQLite:
		return freshSQLite()
	case onRedis:
		return freshRedis(ctx)
	default:
		return "", nil, fmt.Errorf("unknown database %q", kind)
	}
}

func (s *servers) freshPostgres(ctx context.Context) (string, func() error, error) {
	if s.postgres == nil {
		server, err := testdb.StartPostgres(ctx, testdb.Options{Durable: true})
		if err != nil {
			return "", nil, err
		}
		s.postgres = server
	}
	execute := func(ctx context.Context, statement string) (err error) {
		conn, err := pgx.Connect(ctx, s.postgres.URL())
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, conn.Close(ctx)) }()
		_, err = conn.Exec(ctx, statement)
		return err
	}
	if err := execute(ctx, "create database "+freshName+" template template0"); err != nil {
		return "", nil, err
	}
	// Pending writes of earlier measurements must not count for this one.
	if err := execute(ctx, "checkpoint"); err != nil {
		return "", nil, err
	}
	drop := func() error {
		return execute(context.WithoutCancel(ctx), "drop database "+freshName+" with (force)")
	}
	return withDatabase(s.postgres.URL()) + connections, drop, nil
}

// connections sets the pool size to what the most concurrent callers need.
const connections = "&pool_max_conns=40"

func (s *servers) freshMariaDB(ctx context.Context) (string, func() error, error) {
	if s.mariadb == nil {
		server, err := testdb.StartMySQL(ctx, testdb.Options{Durable: true})
		if err != nil {
			return "", nil, err
		}
		s.mariadb = server
	}
	config := mysql.NewConfig()
	config.User, config.Net, config.Addr = "root", "tcp", s.mariadb.Addr()
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return "", nil, err
	}
	execute := func(ctx context.Context, statement string) (err error) {
		db := sql.OpenDB(connector)
		defer func() { err = errors.Join(err, db.Close()) }()
		_, err = db.ExecContext(ctx, statement)
		return err
	}
	if err := execute(ctx, "create database "+freshName); err != nil {
		return "", nil, err
	}
	drop := func() error { return execute(context.WithoutCancel(ctx), "drop database "+freshName) }
	return withDatabase(s.mariadb.URL()), drop, nil
}

func freshSQLite() (string, func() error, error) {
	dir, err := os.MkdirTemp("", "fairlead-bench-")
	if err != nil {
		return "", nil, err
	}
	return "sqlite://" + filepath.Join(dir, freshName+".db"), func() error { return os.RemoveAll(dir) }, nil
}

// freshRedis starts a new server: that is quick, and leaves no state of an earlier one.
func freshRedis(ctx context.Context) (string, func() error, error) {
	server, err := testdb.StartRedis(ctx, testdb.Options{Durable: true})
	if err != nil {
		return "", nil, err
	}
	return server.URL(), server.Stop, nil
}

// withDatabase returns the administrator's URL with the name of the measurement's database.
func withDatabase(admin string) string {
	parsed, err := url.Parse(admin)
	if err != nil {
		panic(err) // testdb's own URL is valid
	}
	parsed.Path = "/" + freshName
	return parsed.String()
}

func (s *servers) stop() error {
	var errs []error
	for _, server := range []*testdb.Server{s.postgres, s.mariadb} {
		if server != nil {
			errs = append(errs, server.Stop())
		}
	}
	return errors.Join(errs...)
}
