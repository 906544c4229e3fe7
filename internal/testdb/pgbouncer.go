package testdb

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"
)

// StartPgBouncer starts a private PgBouncer in transaction pooling mode in
// front of the server of postgresURL. The URL of the returned server is
// postgresURL through the pooler. It returns [ErrUnavailable] when PgBouncer
// is neither installed nor installable.
func StartPgBouncer(ctx context.Context, postgresURL string) (*Server, error) {
	program, err := findOrInstall(ctx, "pgbouncer", func(context.Context) (string, error) {
		return lookPath("pgbouncer", "/usr/sbin")
	})
	if err != nil {
		return nil, err
	}
	version, err := versionOf(ctx, program)
	if err != nil {
		return nil, err
	}
	behind, err := url.Parse(postgresURL)
	if err != nil {
		return nil, fmt.Errorf("start PgBouncer: %w", err)
	}
	runAs, err := unprivileged("postgres")
	if err != nil {
		return nil, err
	}
	through := func(addr string) string {
		front := *behind
		front.Host = addr
		return front.String()
	}
	return start(ctx, spec{
		name:  "PgBouncer",
		runAs: runAs,
		command: func(dir string, port int) ([]string, error) {
			config := filepath.Join(dir, "pgbouncer.ini")
			users := filepath.Join(dir, "users.txt")
			settings := pgBouncerSettings(behind, dir, users, port, hasPreparedStatements(version))
			if err := writeFor(runAs, config, settings); err != nil {
				return nil, err
			}
			password, _ := behind.User.Password()
			user := fmt.Sprintf("%q %q\n", behind.User.Username(), password)
			return []string{program, config}, writeFor(runAs, users, user)
		},
		ready: func(ctx context.Context, dir string, port int) error {
			return probePgBouncer(ctx, behind, dir, port)
		},
		url:       through,
		terminate: syscall.SIGINT, // waits for running transactions
		discard:   syscall.SIGKILL,
	})
}

func pgBouncerSettings(behind *url.URL, dir, users string, port int, preparedStatements bool) string {
	lines := []string{
		"[databases]",
		fmt.Sprintf("* = host=%s port=%s", behind.Hostname(), behind.Port()),
		"[pgbouncer]",
		"listen_addr = " + loopback,
		fmt.Sprintf("listen_port = %d", port),
		"unix_socket_dir = " + dir,
		"auth_type = trust",
		"auth_file = " + users,
		"pool_mode = transaction",
		"max_client_conn = 500",
		"default_pool_size = 20",
		// Several clients set this on connect; a pooler does not need it.
		"ignore_startup_parameters = extra_float_digits",
	}
	if preparedStatements {
		lines = append(lines, "max_prepared_statements = 200")
	}
	return strings.Join(lines, "\n") + "\n"
}

// hasPreparedStatements reports whether a PgBouncer supports prepared statements in
// transaction mode, which is the case since version 1.21. version is the output of its
// --version option.
func hasPreparedStatements(version string) bool {
	var major, minor int
	if _, err := fmt.Sscanf(version, "PgBouncer %d.%d", &major, &minor); err != nil {
		return false
	}
	return major > 1 || major == 1 && minor >= 21
}

// probePgBouncer logs in to the database behind the pooler, so that success means that the
// whole path works.
func probePgBouncer(ctx context.Context, behind *url.URL, dir string, port int) error {
	config, err := pgx.ParseConfig(behind.String())
	if err != nil {
		return err
	}
	config.Host, config.Port = dir, uint16(port)
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}

// writeFor writes a file that only runAs can read: it may hold a password.
func writeFor(runAs *syscall.Credential, path, content string) error {
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		return err
	}
	return giveTo(runAs, path)
}
