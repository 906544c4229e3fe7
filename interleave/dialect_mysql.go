package interleave

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	driversql "github.com/go-sql-driver/mysql"

	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/mysql"
)

type mysqlDialect struct{ server }

func (mysqlDialect) name() string { return "mysql" }

func (d mysqlDialect) newValve(at *url.URL) (valve, error) {
	return newWireValve(at.Host, mysqlWire{}, d.background)
}

// background reports whether a statement belongs to a loop of the store rather than to a
// call.
func (mysqlDialect) background(statement string) bool {
	return strings.Contains(statement, "fairlead_listener")
}

func (mysqlDialect) connect(u *url.URL) (*sql.DB, error) {
	config := driversql.NewConfig()
	config.Net, config.Addr, config.User, config.DBName = "tcp", u.Host, u.User.Username(), strings.TrimPrefix(u.Path, "/")
	config.Passwd, _ = u.User.Password()
	config.MultiStatements, config.ClientFoundRows = true, true
	connector, err := driversql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

func (mysqlDialect) open(ctx context.Context, at string) (Store, error) {
	u, err := url.Parse(at)
	if err != nil {
		return nil, err
	}
	return mysql.OpenWith(ctx, at, mysql.Options{Now: "(select us from `" + strings.TrimPrefix(u.Path, "/") + "`.test_clock)", WakeAddr: "-", IdleLimit: time.Hour, QueryTimeout: queryTimeout})
}

func (mysqlDialect) prepare(ctx context.Context, admin *sql.DB) error {
	if _, err := admin.ExecContext(ctx, fmt.Sprintf("update fairlead_counter set value = %d where name = 'job'", idFloor)); err != nil {
		return err
	}
	rows, err := admin.QueryContext(ctx, "select table_name from information_schema.tables where table_schema = database() and auto_increment is not null")
	if err != nil {
		return err
	}
	defer rows.Close()
	var change strings.Builder
	for n := 2; rows.Next(); n++ {
		var table string
		if err := rows.Scan(&table); err != nil {
			return err
		}
		fmt.Fprintf(&change, "alter table `%s` auto_increment = %d; ", table, n*idFloor)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	_, err = admin.ExecContext(ctx, change.String())
	return err
}

func (mysqlDialect) changeLimits() string {
	return "update fairlead_counter set value = value + 1 where name = 'pause'"
}

var (
	// lockWait finds the threads that wait for a row lock in the status of InnoDB, which is
	// newer than information_schema.innodb_trx.
	lockWait = regexp.MustCompile(`(?m)^LOCK WAIT .*\n\w+ thread id (\d+),`)
)

func (mysqlDialect) waiting(ctx context.Context, admin *sql.DB) ([]int, error) {
	var kind, name, status string
	if err := admin.QueryRowContext(ctx, "show engine innodb status").Scan(&kind, &name, &status); err != nil {
		return nil, err
	}
	ids := []string{"0"}
	for _, found := range lockWait.FindAllStringSubmatch(status, -1) {
		ids = append(ids, found[1])
	}
	return ports(ctx, admin, "select host from information_schema.processlist where id in ("+strings.Join(ids, ", ")+") or state in ('User lock', 'Waiting for table metadata lock')")
}

func (mysqlDialect) connected(ctx context.Context, admin *sql.DB) ([]int, error) {
	return ports(ctx, admin, "select host from information_schema.processlist")
}

func (mysqlDialect) within(s Store, tx *sql.Tx) driver.Tx { return s.(*mysql.Store).Tx(tx) }
