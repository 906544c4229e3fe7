// Package testdb gives tests and benchmarks private, real database servers.
//
// A test asks for a database and gets the URL of a fresh, empty one:
//
//	store, err := postgres.Open(ctx, testdb.Postgres(t))
//
// The server behind it is found in this order:
//
//  1. the server named by FAIRLEAD_TEST_POSTGRES or FAIRLEAD_TEST_MYSQL, an
//     administrator's URL; the value "none" declares it unavailable;
//  2. a private server started from installed binaries, or from those of
//     FAIRLEAD_TEST_POSTGRES_BIN, shared by all tests of the test binary;
//  3. the same after installing the Debian package, when running as root;
//  4. otherwise the test is skipped, or fails when REQUIRE_DBS=1.
//
// Tests that crash servers, and benchmarks, start their own with [StartPostgres],
// [StartMySQL], [StartPgBouncer] and [StartRedis].
//
// A private server listens on 127.0.0.1 and on a Unix socket, keeps its data in
// a temporary directory, and never runs as root. It is stopped and its
// directory removed when the process that started it ends, in whatever way it
// ends: see keeper. Nothing here leaves a goroutine behind, so tests may
// check for leaks.
package testdb

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"sync"
	"testing"
)

// Environment variables that steer where servers come from.
const (
	// PostgresEnv holds the administrator's URL of a PostgreSQL server to use.
	PostgresEnv = "FAIRLEAD_TEST_POSTGRES"
	// MySQLEnv holds the administrator's URL of a MariaDB or MySQL server to use.
	MySQLEnv = "FAIRLEAD_TEST_MYSQL"
	// PostgresBinEnv names the directory of the programs of another PostgreSQL than the
	// installed one, for private servers. As root, its path must be open to the
	// unprivileged user that the server runs as.
	PostgresBinEnv = "FAIRLEAD_TEST_POSTGRES_BIN"
	// RequireEnv set to "1" turns a missing server from a skip into a failure.
	RequireEnv = "REQUIRE_DBS"

	// Unavailable is the value of PostgresEnv or MySQLEnv that says that there
	// is no such server and that none should be looked for.
	Unavailable = "none"
)

// ErrUnavailable says that a server is neither installed nor installable.
var ErrUnavailable = errors.New("server unavailable")

// The servers shared by all tests of one test binary. They are never stopped
// by a test: the keeper of each stops it when the binary ends.
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

// Program returns the path of an installed program. If it is missing, the test is skipped, or
// fails if everything has to be there.
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
	server   *Server // keeps the server alive, if we started it
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
