package postgres

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/internal/tier"
)

// failovers is how often a standby takes over: FAIRLEAD_FAILOVERS, or few.
func failovers(t *testing.T, few int) int {
	text := os.Getenv("FAIRLEAD_FAILOVERS")
	if text == "" {
		return few
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("FAIRLEAD_FAILOVERS: %v", err)
	}
	return n
}

// TestNothingThatWasLostIsUsedAfterAFailover kills a primary again and again whose
// standby lacks its last commits: lanes, ids, nodes, leases and limits that processes
// have cached are gone. The processes go on.
func TestNothingThatWasLostIsUsedAfterAFailover(t *testing.T) {
	tier.Long(t, "fails over between servers under load")
	t.Parallel()
	c := newCluster(t)
	for round := range failovers(t, 2) {
		c.work(fmt.Sprint("before-", round))
		safe := c.acknowledged()
		c.cutOff()
		c.loseTail(round)
		c.failOver()
		c.work(fmt.Sprint("after-", round))
		c.check(safe)
	}
	c.drain()
}

// TestNoAcknowledgedJobIsLostWithASynchronousStandby kills primaries that acknowledge
// nothing before their standby has it.
func TestNoAcknowledgedJobIsLostWithASynchronousStandby(t *testing.T) {
	tier.Long(t, "kills a server that has a standby")
	t.Parallel()
	c := newCluster(t)
	for round := range failovers(t, 1) {
		c.synchronise()
		c.work(fmt.Sprint("safe-", round))
		safe := c.killPrimary()
		c.promote()
		c.work(fmt.Sprint("after-", round))
		c.check(safe)
	}
	c.drain()
}

// cluster is a primary, its standby, and the processes that use them.
type cluster struct {
	*crew
	primary, standby *testdb.Server
	relay            *testdb.Relay
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	primary := keep(t, func(ctx context.Context) (*testdb.Server, error) { return testdb.StartPostgres(ctx, testdb.Options{}) })
	c := &cluster{primary: primary, relay: testdb.NewRelay(t, primary.Addr())}
	c.follow(t)
	c.crew = newCrew(t, c.through(t))
	return c
}

// keep starts a server that is stopped when the test ends.
func keep(t *testing.T, start func(ctx context.Context) (*testdb.Server, error)) *testdb.Server {
	t.Helper()
	server, err := start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	return server
}

// follow gives the primary a new standby.
func (c *cluster) follow(t *testing.T) {
	c.standby = keep(t, func(ctx context.Context) (*testdb.Server, error) { return testdb.StartStandby(ctx, c.primary) })
}

// through is the address of the relay.
func (c *cluster) through(t *testing.T) string {
	u, err := url.Parse(c.primary.URL())
	if err != nil {
		t.Fatal(err)
	}
	u.Host = c.relay.Addr()
	return u.String()
}

// ask runs a statement at a server, and returns its only value as text.
func (c *cluster) ask(server *testdb.Server, sql string) string {
	c.Helper()
	conn := connect(c.T, server.URL())
	defer conn.Close(c.Context())
	var answer string
	if err := conn.QueryRow(c.Context(), sql, pgx.QueryExecModeSimpleProtocol).Scan(&answer); err != nil {
		c.Fatalf("%s: %v", sql, err)
	}
	return answer
}

// await waits until a server answers true.
func (c *cluster) await(server *testdb.Server, sql string) {
	c.Helper()
	c.until(sql, func() bool { return c.ask(server, sql) == "true" })
}

// cutOff ends the replication, once the standby has all that there was.
func (c *cluster) cutOff() {
	c.Helper()
	lsn := c.ask(c.primary, "select pg_current_wal_lsn()::text")
	c.await(c.standby, fmt.Sprintf("select (pg_last_wal_replay_lsn() >= '%s')::text", lsn))
	conn := connect(c.T, c.standby.URL())
	defer conn.Close(c.Context())
	for _, sql := range []string{"alter system set primary_conninfo = ''", "select pg_reload_conf()"} {
		if _, err := conn.Exec(c.Context(), sql); err != nil {
			c.Fatal(err)
		}
	}
	c.await(c.standby, "select (count(*) = 0)::text from pg_stat_wal_receiver")
}

// synchronise lets the primary acknowledge nothing that the standby has not got.
func (c *cluster) synchronise() {
	c.Helper()
	conn := connect(c.T, c.primary.URL())
	defer conn.Close(c.Context())
	for _, sql := range []string{"alter system set synchronous_standby_names = '*'", "select pg_reload_conf()"} {
		if _, err := conn.Exec(c.Context(), sql); err != nil {
			c.Fatal(err)
		}
	}
	c.await(c.primary, "select (count(*) = 1)::text from pg_stat_replication where sync_state = 'sync'")
}

// killPrimary ends the primary at once. It returns what was acknowledged before that.
func (c *cluster) killPrimary() []int {
	c.Helper()
	if err := c.primary.Kill(); err != nil {
		c.Fatal(err)
	}
	return c.acknowledged()
}

// promote makes the standby the primary, and gives it a standby.
func (c *cluster) promote() {
	c.Helper()
	c.relay.Lead("")
	old := c.primary
	conn := connect(c.T, c.standby.URL())
	defer conn.Close(c.Context())
	for _, sql := range []string{"alter system reset synchronous_standby_names", "select pg_promote(true, 300)", "select pg_reload_conf()"} {
		if _, err := conn.Exec(c.Context(), sql); err != nil {
			c.Fatal(err)
		}
	}
	c.await(c.standby, "select (not pg_is_in_recovery())::text")
	c.primary = c.standby
	c.relay.Lead(c.primary.Addr())
	c.follow(c.T)
	if err := old.Stop(); err != nil {
		c.Error(err)
	}
}

// failOver is a primary that dies, and a standby that takes over.
func (c *cluster) failOver() {
	c.Helper()
	c.killPrimary()
	c.promote()
}

// until waits for what must come.
func (c *crew) until(what string, holds func() bool) {
	c.Helper()
	ctx, cancel := context.WithTimeout(c.Context(), patience.Limit)
	defer cancel()
	for !holds() {
		select {
		case <-ctx.Done():
			c.Fatalf("waited in vain: %s", what)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
