package interleave

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/postgres"
)

type postgresDialect struct{ server }

func (postgresDialect) name() string { return "postgres" }

func (d postgresDialect) newValve(at *url.URL) (valve, error) {
	return newWireValve(at.Host, postgresWire{}, d.background)
}

// background reports whether a statement belongs to a loop of the store rather than to a
// call.
func (postgresDialect) background(statement string) bool {
	return strings.Contains(statement, "pg_notify") || strings.HasPrefix(strings.ToLower(statement), "listen ")
}

func (postgresDialect) connect(u *url.URL) (*sql.DB, error) {
	config, err := pgx.ParseConfig(u.String())
	if err != nil {
		return nil, err
	}
	return stdlib.OpenDB(*config), nil
}

func (postgresDialect) open(ctx context.Context, at string) (Store, error) {
	return postgres.OpenWith(ctx, at, postgres.Options{Now: "(select us from public.test_clock)", ListenURL: "-", IdleLimit: time.Hour, QueryTimeout: queryTimeout})
}

func (postgresDialect) prepare(ctx context.Context, admin *sql.DB) error {
	// Deadlocks are resolved quickly: two stopped actors cause more of them than usual.
	_, err := admin.ExecContext(ctx, fmt.Sprintf("do $$ declare s record; begin "+
		"for s in select format('%%I.%%I', schemaname, sequencename) as name, row_number() over (order by sequencename) as n from pg_sequences "+
		"loop perform setval(s.name, %d * s.n); end loop; "+
		"execute format('alter database %%I set deadlock_timeout = %%L', current_database(), '20ms'); end $$", idFloor))
	return err
}

func (postgresDialect) changeLimits() string {
	return "update fairlead_rules set version = version + 1"
}

func (postgresDialect) waiting(ctx context.Context, admin *sql.DB) ([]int, error) {
	return ports(ctx, admin, "select client_port from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()")
}

func (postgresDialect) connected(ctx context.Context, admin *sql.DB) ([]int, error) {
	return ports(ctx, admin, "select client_port from pg_stat_activity where datname = current_database()")
}

func (postgresDialect) within(s Store, tx *sql.Tx) driver.Tx { return s.(*postgres.Store).SQLTx(tx) }
