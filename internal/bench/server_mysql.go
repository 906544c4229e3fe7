package bench

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// mysqlServer is MySQL or MariaDB.
type mysqlServer struct {
	db  *sql.DB
	pid int // zero if it is on another machine, or not accessible
}

func openMySQL(ctx context.Context, address string) (*mysqlServer, error) {
	config, err := mysqlConfig(address)
	if err != nil {
		return nil, fmt.Errorf("observe MySQL: %w", err)
	}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, fmt.Errorf("observe MySQL: %w", err)
	}
	s := &mysqlServer{db: sql.OpenDB(connector)}
	var pidFile, dataDir string
	if err := s.db.QueryRowContext(ctx, "select @@pid_file, @@datadir").Scan(&pidFile, &dataDir); err != nil {
		return nil, errors.Join(fmt.Errorf("observe MySQL: %w", err), s.Close())
	}
	host, _, _ := net.SplitHostPort(config.Addr)
	if onThisMachine(host) {
		s.pid = readPIDFile(pidFile, dataDir)
	}
	return s, nil
}

// mysqlConfig converts mysql://user:password@host:port/name, which the driver does not
// accept.
func mysqlConfig(address string) (*mysql.Config, error) {
	parsed, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	config := mysql.NewConfig()
	config.Net, config.Addr = "tcp", parsed.Host
	config.DBName = strings.TrimPrefix(parsed.Path, "/")
	config.User = parsed.User.Username()
	config.Passwd, _ = parsed.User.Password()
	if parsed.Port() == "" {
		config.Addr = net.JoinHostPort(parsed.Hostname(), "3306")
	}
	return config, nil
}

// readPIDFile returns zero unless the file contains the ID of a server process.
func readPIDFile(path, dataDir string) int {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dataDir, path)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil || !isProgram(pid, "mariadbd", "mysqld") {
		return 0
	}
	return pid
}

// Name implements Server.
func (s *mysqlServer) Name() string { return "mysql" }

// Usage implements Server.
func (s *mysqlServer) Usage(ctx context.Context) (Usage, error) {
	var u Usage
	for name, into := range map[string]*int64{"Innodb_os_log_written": &u.WAL, "Questions": &u.Statements} {
		if err := s.db.QueryRowContext(ctx, "show global status where variable_name = ?", name).Scan(new(string), into); err != nil {
			return Usage{}, fmt.Errorf("read the status of MySQL: %w", err)
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
func (s *mysqlServer) HoldSnapshot(ctx context.Context) (func() error, error) {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	background := context.WithoutCancel(ctx)
	release := func() error {
		_, err := conn.ExecContext(background, "rollback")
		return errors.Join(err, conn.Close())
	}
	// Only repeatable read retains its snapshot after a statement.
	for _, statement := range []string{
		"set transaction isolation level repeatable read",
		"start transaction with consistent snapshot",
	} {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return nil, errors.Join(err, release())
		}
	}
	return release, nil
}

// Close implements Server.
func (s *mysqlServer) Close() error { return s.db.Close() }
