package sim_test

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"slices"
	"testing"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/sim"
)

// The server is killed while two nodes run jobs, and is back after a while.
// Everything ends, and nobody declares the other dead at once (trap 6).
func TestDatabaseRestart(t *testing.T) {
	t.Parallel()
	for _, db := range []struct {
		name  string
		start func(context.Context, testdb.Options) (*testdb.Server, error)
		url   func(t *testing.T, admin string) string
	}{
		{"postgres", testdb.StartPostgres, func(_ *testing.T, admin string) string { return admin }},
		{"mariadb", testdb.StartMySQL, newMySQLDatabase},
	} {
		for name, outage := range map[string]time.Duration{
			"shorter than the lease": 0,
			"longer than the lease":  2 * quickNode.Lease,
		} {
			t.Run(db.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				server := privateServer(t, db.start)
				record, verdict := play(t, sim.Scenario{
					URL: db.url(t, server.URL()), Jobs: 2000, Workers: 2, Node: quickNode,
					Disturb: sim.Outage(server, outage), Every: time.Second,
				})
				back := backAfterOutage(t, record)
				if outage == 0 {
					return
				}
				if verdict.Figures.ReapedJobs == 0 {
					t.Error("no job was taken back, so that nothing was shown")
				}
				nobodyReapedBefore(t, record, back.Add(quickNode.Lease))
			})
		}
	}
}

// backAfterOutage is when the first node heard again that it has a lease.
func backAfterOutage(t *testing.T, r sim.Record) sim.Instant {
	t.Helper()
	down := slices.IndexFunc(r.Events, func(e sim.Event) bool { return e.What == sim.Down })
	if down < 0 {
		t.Fatal("there was no outage: all jobs ended before")
	}
	// Answers that were on their way when the server was killed still arrive.
	const underway = 50 * time.Millisecond
	after := r.Events[down].At.Add(underway)
	back := slices.IndexFunc(r.Events, func(e sim.Event) bool { return e.What == sim.Granted && e.At > after })
	if back < 0 {
		t.Fatal("no node came back")
	}
	return r.Events[back].At
}

// nobodyReapedBefore requires that no node took anything from another between
// the outage, when all leases ran out, and some moment.
func nobodyReapedBefore(t *testing.T, r sim.Record, moment sim.Instant) {
	t.Helper()
	for _, e := range r.Events {
		if e.What != sim.Reaped {
			continue
		}
		t.Logf("node %d declared %d nodes dead and took %d jobs", e.Node, e.Nodes, e.Jobs)
		if e.Sent < moment {
			t.Errorf("that was %v too soon", moment.Sub(e.Sent))
		}
	}
}

// privateServer starts a server that the test may crash.
func privateServer(t *testing.T, start func(context.Context, testdb.Options) (*testdb.Server, error)) *testdb.Server {
	t.Helper()
	server, err := start(t.Context(), testdb.Options{})
	if errors.Is(err, testdb.ErrUnavailable) && !testdb.Required() {
		t.Skipf("SKIPPED, NOT TESTED: %v", err)
	}
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

// newMySQLDatabase makes a database beside the server's own.
func newMySQLDatabase(t *testing.T, admin string) string {
	t.Helper()
	parsed, err := url.Parse(admin)
	if err != nil {
		t.Fatal(err)
	}
	config := driver.NewConfig()
	config.Net, config.Addr, config.User = "tcp", parsed.Host, parsed.User.Username()
	connector, err := driver.NewConnector(config)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	if _, err := db.ExecContext(t.Context(), "create database sim"); err != nil {
		t.Fatal(err)
	}
	parsed.Path = "/sim"
	return parsed.String()
}
