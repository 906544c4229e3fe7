// Package pgtest opens stores on PostgreSQL for tests, with a clock that the test moves.
package pgtest

import (
	"context"
	"crypto/rand"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead-io/fairlead/fairleadtest"
	"github.com/fairlead-io/fairlead/postgres"
)

// begin is the time at which the clock begins.
var begin = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// Open opens a store in a new schema of the database at url. The user in url must have the
// privilege to create schemas. When the test ends, Open's cleanup closes the store and drops
// the schema. Pass transactions on the same database to the store's Tx.
func Open(t fairleadtest.TB, url string) (*postgres.Store, *Clock) {
	t.Helper()
	schema := "fairleadtest_" + strings.ToLower(rand.Text()[:12])
	c := &Clock{t: t, url: url, table: pgx.Identifier{schema, "clock"}.Sanitize()}
	quoted := pgx.Identifier{schema}.Sanitize()
	c.exec("create schema " + quoted)
	t.Cleanup(func() { c.exec("drop schema " + quoted + " cascade") })
	c.exec("create table " + c.table + " (us bigint not null)")
	c.exec("insert into "+c.table+" values ($1)", begin.UnixMicro())
	store, err := postgres.OpenWith(t.Context(), url, postgres.Options{Schema: schema, Now: "(select us from " + c.table + ")"})
	if err != nil {
		t.Fatalf("pgtest: open the store: %v", err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store, c
}

// Clock is a store's clock. The time is stored in a table, and only the test advances it.
type Clock struct {
	t     fairleadtest.TB
	url   string
	table string
}

// Now returns the clock's current time.
func (c *Clock) Now() time.Time {
	c.t.Helper()
	var us int64
	c.do(func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, "select us from "+c.table).Scan(&us)
	})
	return time.UnixMicro(us).UTC()
}

// Advance moves the clock forward by d.
func (c *Clock) Advance(d time.Duration) {
	c.t.Helper()
	c.exec("update "+c.table+" set us = us + $1", d.Microseconds())
}

func (c *Clock) exec(sql string, args ...any) {
	c.t.Helper()
	c.do(func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, sql, args...)
		return err
	})
}

// do uses a connection, also when the test is about to end.
func (c *Clock) do(use func(ctx context.Context, conn *pgx.Conn) error) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.t.Context()), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.url)
	if err == nil {
		err = use(ctx, conn)
		_ = conn.Close(ctx)
	}
	if err != nil {
		c.t.Fatalf("pgtest: %v", err)
	}
}
