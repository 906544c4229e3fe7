package testdb

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"github.com/jackc/pgx/v5"
)

const postgresUser = "fairlead"

// StartPostgres starts a private PostgreSQL server. It returns
// [ErrUnavailable] when PostgreSQL is neither installed nor installable.
func StartPostgres(ctx context.Context, options Options) (*Server, error) {
	return startPostgres(ctx, options, func(bin string, runAs *syscall.Credential) func(ctx context.Context, data string) error {
		return func(ctx context.Context, data string) error {
			return fillFromTemplate(ctx, template{
				server: filepath.Join(bin, "postgres"),
				runAs:  runAs,
				initialize: []string{
					filepath.Join(bin, "initdb"), "--username=" + postgresUser, "--auth=trust",
					"--encoding=UTF8", "--locale=C", "--no-sync", "--pgdata",
				},
			}, data)
		}
	})
}

// StartStandby starts a server that follows a primary started by [StartPostgres], or by
// StartStandby and then promoted. It copies the primary's data and receives its log from
// then on. It answers queries, and can be promoted with pg_promote.
func StartStandby(ctx context.Context, primary *Server) (*Server, error) {
	return startPostgres(ctx, Options{}, func(bin string, _ *syscall.Credential) func(ctx context.Context, data string) error {
		return func(ctx context.Context, data string) error {
			copying := exec.CommandContext(ctx, filepath.Join(bin, "pg_basebackup"),
				"--dbname="+primary.URL(), "--pgdata="+data, "--write-recovery-conf", "--wal-method=stream", "--checkpoint=fast", "--no-sync")
			copying.Env = serverEnvironment()
			if output, err := copying.CombinedOutput(); err != nil {
				return fmt.Errorf("copy the primary: %w: %s", err, output)
			}
			return nil
		}
	})
}

// startPostgres starts a server with a data directory prepared by fill.
func startPostgres(ctx context.Context, options Options, fill func(bin string, runAs *syscall.Credential) func(ctx context.Context, data string) error) (*Server, error) {
	bin, err := postgresBin(ctx)
	if err != nil {
		return nil, err
	}
	runAs, err := unprivileged("postgres")
	if err != nil {
		return nil, err
	}
	port, err := options.port(ctx, filepath.Join(bin, "postgres"))
	if err != nil {
		return nil, err
	}
	return start(ctx, spec{
		name:    "PostgreSQL",
		port:    port,
		runAs:   runAs,
		durable: options.Durable,
		fill:    fill(bin, runAs),
		command: func(dir string, port int) ([]string, error) {
			return append([]string{
				filepath.Join(bin, "postgres"),
				"-D", filepath.Join(dir, "data"),
				"-p", strconv.Itoa(port),
				"-c", "listen_addresses=" + loopback,
				"-c", "unix_socket_directories=" + dir,
				"-c", "max_connections=500",
			}, postgresDurability(options.Durable)...), nil
		},
		ready: probePostgres,
		url: func(addr string) string {
			return fmt.Sprintf("postgres://%s@%s/postgres?sslmode=disable", postgresUser, addr)
		},
		terminate: syscall.SIGINT, // "fast": does not wait for clients to disconnect
		// "immediate". SIGKILL would leave a System V shared memory segment behind.
		discard: syscall.SIGQUIT,
	})
}

func postgresDurability(durable bool) []string {
	if durable {
		return []string{"-c", "fsync=on", "-c", "synchronous_commit=on", "-c", "shared_buffers=2GB", "-c", "max_wal_size=8GB"}
	}
	// synchronous_commit stays on: a server killed and restarted must not lose acknowledged
	// commits.
	return []string{"-c", "fsync=off", "-c", "synchronous_commit=on", "-c", "shared_buffers=32MB", "-c", "max_wal_size=256MB"}
}

func probePostgres(ctx context.Context, dir string, port int) error {
	conn, err := pgx.Connect(ctx, fmt.Sprintf(
		"host=%s port=%d user=%s dbname=postgres sslmode=disable", dir, port, postgresUser))
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}

// postgresBin returns the directory of PostgreSQL's programs. If PostgresBinEnv names a
// directory without them, postgresBin returns an error rather than use another server.
func postgresBin(ctx context.Context) (string, error) {
	bin := os.Getenv(PostgresBinEnv)
	if bin == "" {
		return findOrInstall(ctx, "postgresql", findPostgres)
	}
	bin, err := filepath.Abs(bin)
	if err == nil && !hasInitdb(bin) {
		err = fmt.Errorf("%s=%s has no initdb", PostgresBinEnv, bin)
	}
	return bin, err
}

// findPostgres returns the directory of PostgreSQL's programs. Debian installs them outside
// the PATH, one directory per version; findPostgres uses the newest.
func findPostgres(context.Context) (string, error) {
	if path, err := exec.LookPath("postgres"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil && hasInitdb(filepath.Dir(path)) {
			return filepath.Dir(path), nil
		}
	}
	candidates, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil {
		return "", err
	}
	candidates = slices.DeleteFunc(candidates, func(bin string) bool { return !hasInitdb(bin) })
	if len(candidates) == 0 {
		return "", exec.ErrNotFound
	}
	return slices.MaxFunc(candidates, func(a, b string) int {
		return postgresMajor(a) - postgresMajor(b)
	}), nil
}

func hasInitdb(bin string) bool {
	_, err := os.Stat(filepath.Join(bin, "initdb"))
	return err == nil
}

// postgresMajor returns 15 for /usr/lib/postgresql/15/bin, and 0 for old versions whose
// directory names have two numbers.
func postgresMajor(bin string) int {
	major, err := strconv.Atoi(filepath.Base(filepath.Dir(bin)))
	if err != nil {
		return 0
	}
	return major
}
