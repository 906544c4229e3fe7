package testdb

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"

	"github.com/fairlead-io/fairlead/internal/patience"
)

// dropTimeout limits the removal of one database, so that an unresponsive server fails the
// test that used it instead of hanging the whole run.
const dropTimeout = patience.Limit

// freshDatabase creates a database on the server of adminURL, registers its
// removal and returns its URL.
func freshDatabase(
	t testing.TB,
	adminURL string,
	create, drop func(ctx context.Context, adminURL, name string) error,
) string {
	t.Helper()
	at, remove, err := fresh(t.Context(), t.Name(), adminURL, create, drop)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := remove(); err != nil {
			t.Error(err)
		}
	})
	return at
}

// Fresh returns the URL of a fresh, empty database for a program that is not a test:
// "postgres" or "mysql". drop removes the database.
func Fresh(ctx context.Context, kind string) (url string, drop func() error, err error) {
	server, create, remove := &sharedPostgres, createPostgres, dropPostgres
	switch kind {
	case "postgres":
	case "mysql":
		server, create, remove = &sharedMySQL, createMySQL, dropMySQL
	default:
		return "", nil, fmt.Errorf("database %q is unknown: use postgres or mysql", kind)
	}
	server.once.Do(func() { server.adminURL, server.err = server.findOrStart(ctx) })
	if server.err != nil {
		return "", nil, server.err
	}
	return fresh(ctx, kind, server.adminURL, create, remove)
}

// fresh creates a database named after its user.
func fresh(ctx context.Context, user, adminURL string, create, drop func(ctx context.Context, adminURL, name string) error) (string, func() error, error) {
	database, err := url.Parse(adminURL)
	if err != nil {
		return "", nil, fmt.Errorf("testdb: the administrator's URL is malformed: %w", err)
	}
	name := databaseName(user)
	database.Path = "/" + name
	if err := create(ctx, adminURL, name); err != nil {
		return "", nil, fmt.Errorf("testdb: create database %s: %w", name, err)
	}
	background := context.WithoutCancel(ctx) // the context of a test is cancelled before its cleanups run
	return database.String(), func() error {
		ctx, cancel := context.WithTimeout(background, dropTimeout)
		defer cancel()
		if err := drop(ctx, adminURL, name); err != nil {
			return fmt.Errorf("testdb: drop database %s: %w", name, err)
		}
		return nil
	}, nil
}

// databaseName returns an identifier that needs no quoting, identifies the test to a reader
// of the server's log, and is unique among all test binaries that share the server.
func databaseName(testName string) string {
	readable := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToLower(testName))
	// 63 bytes is PostgreSQL's limit and 64 MySQL's.
	const longestReadable, randomLetters = 40, 16
	readable = readable[:min(len(readable), longestReadable)]
	return "t_" + readable + "_" + strings.ToLower(rand.Text()[:randomLetters])
}

// createPostgres copies template0: unlike template1, it never contains additional objects
// and has no connections.
func createPostgres(ctx context.Context, adminURL, name string) error {
	return copyPostgres(ctx, adminURL, name, "template0")
}

// copyPostgres copies a database without connections. If the server supports it, it copies
// files: the server's default of logging each page takes three times as long.
func copyPostgres(ctx context.Context, adminURL, name, template string) error {
	return withPostgres(ctx, adminURL, func(conn *pgx.Conn) error {
		statement := "CREATE DATABASE " + name + " TEMPLATE " + template
		if choosesStrategy(conn.PgConn().ParameterStatus("server_version")) {
			statement += " STRATEGY file_copy"
		}
		_, err := conn.Exec(ctx, statement)
		return err
	})
}

// choosesStrategy reports whether a server supports more than one way to copy a database.
// version has a form such as "15.4 (Debian)".
func choosesStrategy(version string) bool {
	const since = 15
	major, _, _ := strings.Cut(version, ".")
	number, err := strconv.Atoi(major)
	return err == nil && number >= since
}

// dropPostgres drops a database, even if a failed test still has connections to it.
func dropPostgres(ctx context.Context, adminURL, name string) error {
	return withPostgres(ctx, adminURL, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "DROP DATABASE "+name+" WITH (FORCE)")
		return err
	})
}

func withPostgres(ctx context.Context, adminURL string, do func(*pgx.Conn) error) (err error) {
	conn, err := pgx.Connect(ctx, adminURL)
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, conn.Close(ctx)) }()
	return do(conn)
}

func createMySQL(ctx context.Context, adminURL, name string) (err error) {
	db, err := openMySQL(adminURL)
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, db.Close()) }()
	_, err = db.ExecContext(ctx, "CREATE DATABASE "+name)
	return err
}

// dropMySQL drops a database. It first ends connections left behind by a failed test,
// because DROP DATABASE would wait for their open transactions.
func dropMySQL(ctx context.Context, adminURL, name string) (err error) {
	db, err := openMySQL(adminURL)
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, db.Close()) }()
	users, err := queryTexts(ctx, db, "SELECT id FROM information_schema.processlist WHERE db = ?", name)
	if err != nil {
		return err
	}
	for _, id := range users {
		// A connection that has ended meanwhile is not a failure; one that could not be
		// killed makes the DROP fail.
		_, _ = db.ExecContext(ctx, "KILL CONNECTION "+id)
	}
	_, err = db.ExecContext(ctx, "DROP DATABASE "+name)
	return err
}

// queryTexts returns the values of a query with one column.
func queryTexts(ctx context.Context, db *sql.DB, query string, args ...any) (values []string, err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = firstError(err, rows.Close()) }()
	for rows.Next() {
		var value string
		if err := rows.Scan(&value); err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	return values, rows.Err()
}

// withMySQL calls do with a connection to a database that accepts scripts.
func withMySQL(adminURL, name string, do func(*sql.DB) error) (err error) {
	config, err := mysqlConfig(adminURL)
	if err != nil {
		return err
	}
	config.DBName, config.MultiStatements = name, true
	db, err := openMySQLConfig(config)
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, db.Close()) }()
	return do(db)
}

// openMySQL opens a mysql:// URL, which the driver itself does not support.
func openMySQL(adminURL string) (*sql.DB, error) {
	config, err := mysqlConfig(adminURL)
	if err != nil {
		return nil, err
	}
	return openMySQLConfig(config)
}

func mysqlConfig(adminURL string) (*mysql.Config, error) {
	parsed, err := url.Parse(adminURL)
	if err != nil {
		return nil, err
	}
	config := mysql.NewConfig()
	config.Net, config.Addr = "tcp", parsed.Host
	config.User = parsed.User.Username()
	config.Passwd, _ = parsed.User.Password()
	return config, nil
}

func openMySQLConfig(config *mysql.Config) (*sql.DB, error) {
	// Connecting to a server that is starting or being killed is expected to fail: the
	// driver must not print these errors.
	config.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// firstError returns the first of two errors: an error from closing after a failure rarely
// adds information.
func firstError(first, second error) error {
	if first != nil {
		return first
	}
	return second
}
