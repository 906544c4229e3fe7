package sqlite

import (
	"context"
	"database/sql/driver"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/fairlead-io/fairlead"
	driversqlite "modernc.org/sqlite"
)

type countingConnector struct {
	driver.Connector
	connected *atomic.Int64
}

func (c countingConnector) Connect(ctx context.Context) (driver.Conn, error) {
	c.connected.Add(1)
	return c.Connector.Connect(ctx)
}

func TestAllConnectionsAreOpenedByTheGivenConnector(t *testing.T) {
	var connected atomic.Int64
	s, err := OpenWith(t.Context(), filepath.Join(t.TempDir(), "jobs.db"), Options{Connector: func(name string) (driver.Connector, error) {
		inner, err := driversqlite.NewConnector(name)
		return countingConnector{inner, &connected}, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if err := fairlead.NewClient(s).Enqueue(t.Context(), &fairlead.Job{Kind: "a"}); err != nil {
		t.Fatal(err)
	}
	if err := s.DB().PingContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Nodes(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := connected.Load(); n != 3 {
		t.Errorf("the connector opened %d connections, want one each for the writer, the caller and the reader", n)
	}
}
