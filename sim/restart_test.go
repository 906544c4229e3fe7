package sim_test

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"slices"
	"testing"
	"time"

	gomysql "github.com/go-sql-driver/mysql"

	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/sim"
)

// The server is killed while two nodes run jobs, and is back after a while.
// Everything ends, and no node declares another dead at once (trap 6).
func TestDatabaseRestart(t *testing.T) {
	tier.Long(t, "kills database servers, and waits for leases to end")
	t.Parallel()
	for _, db := range []struct {
		name  string
		start func(context.Context, testdb.Options) (*testdb.Server, error)
		url   func(t *testing.T, admin string) string
	}{
		{"postgres", testdb.StartPostgres, func(_ *testing.T, admin string) string { return admin }},
		{"mariadb", testdb.StartMySQL, newMySQLDatabase},
	} {
		for name, long := range map[string]time.Duration{
			"shorter than the lease": 0,
			"longer than the lease":  2 * quickNode.Lease,
		} {
			t.Run(db.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				playUntilShown(t, func() sim.Scenario {
					server := privateServer(t, db.start)
					return sim.Scenario{
						URL: db.url(t, server.URL()), Jobs: 2000, Workers: 2, Node: quickNode,
						Disturb: sim.Outage(server, long), Every: time.Second,
					}
				}, func(record sim.Record, f sim.Figures) error {
					down, back, err := outage(record)
					if err != nil || long == 0 {
						return err
					}
					nobodyReaped(t, record, down, back.Add(quickNode.Lease))
					if f.ReapedJobs == 0 {
						return errors.New("no job was taken back")
					}
					return nil
				})
			})
		}
	}
}

// outage returns the time when the server was killed, and the time of the first renewed
// request for a lease that succeeded.
func outage(r sim.Record) (down, back sim.Instant, err error) {
	killed := slices.IndexFunc(r.Events, func(e sim.Event) bool { return e.What == sim.Down })
	if killed < 0 {
		return 0, 0, errors.New("there was no outage: all jobs ended before")
	}
	down = r.Events[killed].At
	// Answers that were on their way when the server was killed still arrive.
	granted := slices.IndexFunc(r.Events, func(e sim.Event) bool { return e.What == sim.Granted && e.Sent > down })
	if granted < 0 {
		return 0, 0, errors.New("no node came back")
	}
	return down, r.Events[granted].Sent, nil
}

// nobodyReaped requires that no node took anything from another between the outage,
// when all leases ran out, and some moment. On a busy machine one may have lost its lease
// before that.
func nobodyReaped(t *testing.T, r sim.Record, down, moment sim.Instant) {
	t.Helper()
	for _, e := range r.Events {
		if e.What != sim.Reaped || e.Sent < down {
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
	config := gomysql.NewConfig()
	config.Net, config.Addr, config.User = "tcp", parsed.Host, parsed.User.Username()
	connector, err := gomysql.NewConnector(config)
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
