package testdb

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/go-sql-driver/mysql"
)

const mysqlUser = "root"

// mariadb holds the paths of MariaDB's programs.
type mariadb struct{ server, installDB string }

// StartMySQL starts a private MariaDB server. It returns [ErrUnavailable] when
// MariaDB is neither installed nor installable. (To test with MySQL itself,
// name a server in the environment variable [MySQLEnv].)
func StartMySQL(ctx context.Context, options Options) (*Server, error) {
	server, err := mariadbSpec(ctx, options)
	if err != nil {
		return nil, err
	}
	return start(ctx, server)
}

// mariadbSpec returns the spec of a MariaDB server.
func mariadbSpec(ctx context.Context, options Options) (spec, error) {
	programs, err := findOrInstall(ctx, "mariadb-server", findMariaDB)
	if err != nil {
		return spec{}, err
	}
	runAs, err := unprivileged("mysql")
	if err != nil {
		return spec{}, err
	}
	port, err := options.port(ctx, programs.server)
	if err != nil {
		return spec{}, err
	}
	return spec{
		name:    "MariaDB",
		port:    port,
		runAs:   runAs,
		durable: options.Durable,
		fill: func(ctx context.Context, data string) error {
			return fillFromTemplate(ctx, template{
				server: programs.server,
				runAs:  runAs,
				initialize: []string{
					programs.installDB, "--no-defaults",
					"--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve",
					// Small, because it is copied at each start; the server enlarges it to
					// its configured size.
					"--innodb-log-file-size=4M",
					"--datadir",
				},
			}, data)
		},
		command: func(dir string, port int) ([]string, error) {
			return append([]string{
				programs.server, "--no-defaults",
				"--datadir=" + filepath.Join(dir, "data"),
				"--tmpdir=" + dir, // not shared, because a starting server deletes the files in it
				"--socket=" + mysqlSocket(dir),
				"--pid-file=" + filepath.Join(dir, "pid"),
				"--bind-address=" + loopback,
				"--port=" + strconv.Itoa(port),
				"--skip-name-resolve",
				"--max-connections=600",
				"--performance-schema=off",
				"--character-set-server=utf8mb4",
			}, mysqlDurability(options.Durable)...), nil
		},
		ready: probeMySQL,
		url: func(addr string) string {
			return fmt.Sprintf("mysql://%s@%s/mysql", mysqlUser, addr)
		},
		terminate: syscall.SIGTERM,
		discard:   syscall.SIGKILL,
	}, nil
}

func mysqlDurability(durable bool) []string {
	if durable {
		return []string{
			"--innodb-flush-log-at-trx-commit=1",
			"--innodb-buffer-pool-size=2G",
			"--innodb-log-file-size=1G",
		}
	}
	return []string{
		// 2 hands each commit to the operating system; 0 would keep it in the server for up
		// to a second, and killing the server would lose it.
		"--innodb-flush-log-at-trx-commit=2",
		"--innodb-flush-method=nosync",
		"--sync-frm=off",
		"--innodb-buffer-pool-size=64M",
		"--innodb-log-file-size=48M",
	}
}

func mysqlSocket(dir string) string { return filepath.Join(dir, "mysql.sock") }

func probeMySQL(ctx context.Context, dir string, _ int) (err error) {
	config := mysql.NewConfig()
	config.Net, config.Addr, config.User = "unix", mysqlSocket(dir), mysqlUser
	db, err := openMySQLConfig(config)
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, db.Close()) }()
	return db.PingContext(ctx)
}

// findMariaDB returns the paths of MariaDB's programs. It also searches directories missing
// from an ordinary user's PATH. It skips a mysqld that belongs to MySQL, because its data
// directory is initialized differently.
func findMariaDB(ctx context.Context) (mariadb, error) {
	installDB, err := lookPath("mariadb-install-db", "/usr/bin")
	if err != nil {
		return mariadb{}, err
	}
	for _, name := range []string{"mariadbd", "mysqld"} {
		server, err := lookPath(name, "/usr/sbin")
		if err != nil {
			continue
		}
		if version, err := versionOf(ctx, server); err == nil && strings.Contains(version, "MariaDB") {
			return mariadb{server: server, installDB: installDB}, nil
		}
	}
	return mariadb{}, exec.ErrNotFound
}
