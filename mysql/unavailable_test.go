package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/storetest"
)

func TestWhichErrorsPass(t *testing.T) {
	server := func(number uint16) error { return fmt.Errorf("enqueue: %w", &mysql.MySQLError{Number: number}) }
	for _, number := range []uint16{1290, 1836, 1792, 1036, 1040, 1203, 1226, 1053, 1927, 1021, 1114, 1041, 1205, 1213, 1020, 1317, 1969, 3024, 4031} {
		if err := unavailable(t.Context(), server(number)); !errors.Is(err, fairlead.ErrUnavailable) || err.Error() != server(number).Error() {
			t.Errorf("%d becomes %v", number, err)
		}
	}
	for _, number := range []uint16{1045, 1049, 1054, 1062, 1064, 1142, 1146, 1264, 1366, 1406, 3140} {
		if errors.Is(unavailable(t.Context(), server(number)), fairlead.ErrUnavailable) {
			t.Errorf("%d passes", number)
		}
	}
	for _, err := range []error{io.ErrUnexpectedEOF, driver.ErrBadConn, mysql.ErrInvalidConn, context.DeadlineExceeded} {
		if !errors.Is(unavailable(t.Context(), err), fairlead.ErrUnavailable) {
			t.Errorf("%v does not pass", err)
		}
	}
}

// ownServer is a server that the test may change or stop.
func ownServer(t *testing.T) *testdb.Server {
	t.Helper()
	server, err := testdb.StartMySQL(t.Context(), testdb.Options{})
	if errors.Is(err, testdb.ErrUnavailable) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	return server
}

// opened is a store that is closed when the test ends.
func opened(t *testing.T, url string, options Options) *Store {
	t.Helper()
	s, err := OpenWith(t.Context(), url, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // the server may be gone
	return s
}

// administrate runs a statement as the server's administrator.
func administrate(t *testing.T, s *Store, statement string) {
	t.Helper()
	if _, err := s.db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

func TestVerbsOnAReadOnlyServerFailForNow(t *testing.T) {
	tier.Long(t, "starts a server of its own")
	server := ownServer(t)
	root := opened(t, server.URL(), Options{Prefix: "root_"})
	administrate(t, root, "create database jobs")
	administrate(t, root, "create user plain@localhost identified by 'x'")
	administrate(t, root, "create user plain@'127.0.0.1' identified by 'x'")
	administrate(t, root, "grant all on jobs.* to plain@localhost")
	administrate(t, root, "grant all on jobs.* to plain@'127.0.0.1'")
	location, err := url.Parse(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	location.User, location.Path = url.UserPassword("plain", "x"), "/jobs"
	s := opened(t, location.String(), Options{})
	storetest.RunUnavailable(t, s, storetest.Outage{Reads: true, Begin: func(t *testing.T) { administrate(t, root, "set global read_only = 1") }})
}

func TestVerbsOnCutConnectionsFailForNow(t *testing.T) {
	tier.Long(t, "starts a server of its own")
	server := ownServer(t)
	root, s := opened(t, server.URL(), Options{Prefix: "root_"}), opened(t, server.URL(), Options{})
	kill := func(t *testing.T) {
		var ids []int64
		err := each(t.Context(), root.db, collect(&ids), "select id from information_schema.processlist where id <> connection_id() and command <> 'Daemon' and user = 'root'")
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			_, _ = root.db.ExecContext(t.Context(), fmt.Sprintf("kill %d", id)) // it may be gone
		}
	}
	storetest.RunUnavailable(t, s, storetest.Outage{Begin: func(*testing.T) {}, Often: kill})
}

func TestVerbsOnAStoppedServerFailForNow(t *testing.T) {
	tier.Long(t, "starts a server of its own, and stops it")
	server := ownServer(t)
	s := opened(t, server.URL(), Options{QueryTimeout: 2 * time.Second})
	storetest.RunUnavailable(t, s, storetest.Outage{Begin: func(t *testing.T) {
		if err := server.Stop(); err != nil {
			t.Fatal(err)
		}
	}})
}

// blocked holds the locks of a job's row in a transaction of its own.
func blocked(t *testing.T, s *Store) *fairlead.Job {
	t.Helper()
	job := &fairlead.Job{Kind: "a"}
	if err := fairlead.NewClient(s).Enqueue(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	tx, err := s.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback() })
	if _, err := tx.ExecContext(t.Context(), "select 1 from "+s.expand("job")+" for update"); err != nil {
		t.Fatal(err)
	}
	return job
}

func TestTheStoresOwnTimeoutFailsForNow(t *testing.T) {
	tier.Long(t, "waits for a timeout of the store")
	s := opened(t, Migrated.MySQL(t), Options{QueryTimeout: 3 * time.Second}) // in which it opens on a busy machine
	job := blocked(t, s)
	if err := s.Cancel(t.Context(), job.ID, ""); !errors.Is(err, fairlead.ErrUnavailable) {
		t.Errorf("it fails with %v", err)
	}
}

// A caller that gives up gets the error of its own context: the database may be well.
func TestCallersThatGiveUpGetTheirOwnError(t *testing.T) {
	s := opened(t, Migrated.MySQL(t), Options{})
	job := blocked(t, s)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := s.Cancel(ctx, job.ID, ""); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, fairlead.ErrUnavailable) {
		t.Errorf("it fails with %v", err)
	}
}
