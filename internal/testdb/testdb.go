// Package testdb provides private, real database servers for tests and benchmarks.
//
// A test requests a database and gets the URL of a fresh, empty one:
//
//	store, err := postgres.Open(ctx, testdb.Postgres(t))
//
// The server is found in this order:
//
//  1. the server named by FAIRLEAD_TEST_POSTGRES or FAIRLEAD_TEST_MYSQL, an
//     administrator's URL; the value "none" declares it unavailable;
//  2. a private server started from installed binaries, or from those of
//     FAIRLEAD_TEST_POSTGRES_BIN, shared by all tests of the test binary;
//  3. the same after installing the Debian package, when running as root;
//  4. otherwise the test is skipped, or fails when REQUIRE_DBS=1.
//
// Benchmarks and tests that crash servers start their own with [StartPostgres],
// [StartMySQL], [StartPgBouncer] and [StartRedis].
//
// A private server listens on 127.0.0.1 and on a Unix socket, stores its data in a
// temporary directory, and never runs as root. When the process that started it ends, in
// whatever way, the server is stopped and its directory removed: see keeper. Package testdb
// leaves no goroutines behind, so tests may check for leaks.
package testdb

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"sync"
	"testing"
)

// Environment variables that select the servers.
const (
	// PostgresEnv is the administrator's URL of a PostgreSQL server to use.
	PostgresEnv = "FAIRLEAD_TEST_POSTGRES"
	// MySQLEnv is the administrator's URL of a MariaDB or MySQL server to use.
	MySQLEnv = "FAIRLEAD_TEST_MYSQL"
	// PostgresBinEnv is the directory of the programs of a PostgreSQL other than the
	// installed one, for private servers. If tests run as root, the server's unprivileged
	// user must have access to it.
	PostgresBinEnv = "FAIRLEAD_TEST_POSTGRES_BIN"
	// RequireEnv, if set to "1", makes tests fail rather than skip if a server is missing.
	RequireEnv = "REQUIRE_DBS"

	// Unavailable is the value of PostgresEnv or MySQLEnv that declares the server
	// unavailable, so that testdb does not look for one.
	Unavailable = "none"
)

// ErrUnavailable means that a server is neither installed nor installable.
var ErrUnavailable = errors.New("server unavailable")

// Servers shared by all tests of a test binary. Tests never stop them: each server's keeper
// stops it when the binary ends.
var (
	sharedPostgres = sharedServer{env: PostgresEnv, start: StartPostgres}
	sharedMySQL    = sharedServer{env: MySQLEnv, start: StartMySQL}
)

// Postgres returns the URL of a fresh, empty PostgreSQL database
// (postgres://user@127.0.0.1:port/name?sslmode=disable), which is dropped when
// the test ends.
func Postgres(t testing.TB) string {
	t.Helper()
	return freshDatabase(t, sharedPostgres.url(t), createPostgres, dropPostgres)
}

// MySQL returns the URL of a fresh, empty MariaDB or MySQL database
// (mysql://root@127.0.0.1:port/name), which is dropped when the test ends.
func MySQL(t testing.TB) string {
	t.Helper()
	return freshDatabase(t, sharedMySQL.url(t), createMySQL, dropMySQL)
}

// PgBouncer starts a connection pooler in transaction mode in front of the
// server of postgresURL, and returns the URL of the same database through it.
// It is stopped when the test ends.
func PgBouncer(t testing.TB, postgresURL string) string {
	t.Helper()
	server, err := StartPgBouncer(t.Context(), postgresURL)
	requireServer(t, err)
	stopAtCleanup(t, server)
	return server.URL()
}

// Redis starts a Redis server and returns its address (host:port). It is
// stopped when the test ends.
func Redis(t testing.TB) string {
	t.Helper()
	server, err := StartRedis(t.Context(), Options{})
	requireServer(t, err)
	stopAtCleanup(t, server)
	return server.Addr()
}

// Required reports whether a missing server is a failure rather than a skip.
func Required() bool { return os.Getenv(RequireEnv) == "1" }

// Program returns the path of an installed program. If it is missing, the test is skipped,
// or fails if all servers are required.
func Program(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		requireServer(t, errors.Join(ErrUnavailable, err))
	}
	return path
}

// A sharedServer is started by the first test that needs it.
type sharedServer struct {
	env   string
	start func(context.Context, Options) (*Server, error)

	once     sync.Once
	adminURL string
	server   *Server // keeps the server alive, if this process started it
	err      error
}

func (s *sharedServer) url(t testing.TB) string {
	t.Helper()
	s.once.Do(func() { s.adminURL, s.err = s.findOrStart(t.Context()) })
	requireServer(t, s.err)
	return s.adminURL
}

func (s *sharedServer) findOrStart(ctx context.Context) (string, error) {
	switch url := os.Getenv(s.env); url {
	case "":
		var err error
		if s.server, err = s.start(ctx, Options{}); err != nil {
			return "", err
		}
		return s.server.URL(), nil
	case Unavailable:
		return "", errors.Join(ErrUnavailable, errors.New(s.env+"="+Unavailable))
	default:
		return url, nil
	}
}

func requireServer(t testing.TB, err error) {
	t.Helper()
	switch {
	case err == nil:
	case errors.Is(err, ErrUnavailable) && !Required():
		t.Skipf("SKIPPED, NOT TESTED: %v (set %s=1 to make this a failure)", err, RequireEnv)
	default:
		t.Fatal(err)
	}
}

func stopAtCleanup(t testing.TB, server *Server) {
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
}
