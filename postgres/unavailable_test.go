package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/storetest"
)

func TestWhichErrorsPass(t *testing.T) {
	server := func(code string) error { return fmt.Errorf("enqueue: %w", &pgconn.PgError{Code: code}) }
	for _, code := range []string{
		"25006", "25P03", "40001", "40P01", "55P03", "57014", "57P01", "57P02", "57P03", "57P05",
		"08006", "08P01", "53000", "53100", "53200", "53300", "53400", "58030",
	} {
		if err := unavailable(t.Context(), server(code)); !errors.Is(err, fairlead.ErrUnavailable) || err.Error() != server(code).Error() {
			t.Errorf("%s becomes %v", code, err)
		}
	}
	for _, code := range []string{"22021", "22P02", "23505", "28P01", "42501", "42P01", "XX000", "XX001", "3D000", "57P04"} {
		if errors.Is(unavailable(t.Context(), server(code)), fairlead.ErrUnavailable) {
			t.Errorf("%s passes", code)
		}
	}
	for _, err := range []error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, &net.OpError{Op: "dial", Err: errors.New("refused")}, context.DeadlineExceeded} {
		if !errors.Is(unavailable(t.Context(), err), fairlead.ErrUnavailable) {
			t.Errorf("%v does not pass", err)
		}
		over, cancel := context.WithCancel(t.Context())
		cancel()
		if errors.Is(unavailable(over, err), fairlead.ErrUnavailable) {
			t.Errorf("%v passes for a caller that has gone", err)
		}
	}
}

// administrate runs a statement on a connection of its own.
func administrate(t *testing.T, url, statement string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	if _, err := conn.Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

func TestVerbsOnAReadOnlyServerFailForNow(t *testing.T) {
	url := migrated.Postgres(t)
	s := open(t, url, Options{})
	storetest.RunUnavailable(t, s, storetest.Outage{Reads: true, Begin: func(t *testing.T) {
		administrate(t, url, "do $$ begin execute format('alter database %I set default_transaction_read_only = on', current_database()); end $$")
		s.pool.Reset()
		s.beats.Reset()
	}})
}

func TestVerbsOnCutConnectionsFailForNow(t *testing.T) {
	url := migrated.Postgres(t)
	s := open(t, url, Options{})
	storetest.RunUnavailable(t, s, storetest.Outage{Begin: func(*testing.T) {}, Often: func(t *testing.T) {
		administrate(t, url, "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()")
	}})
}

func TestVerbsOnAStoppedServerFailForNow(t *testing.T) {
	tier.Long(t, "starts a server of its own, and stops it")
	server, err := testdb.StartPostgres(t.Context(), testdb.Options{})
	if errors.Is(err, testdb.ErrUnavailable) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	stop := func(t *testing.T) {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(func() { stop(t) })
	s := open(t, server.URL(), Options{QueryTimeout: 2 * time.Second})
	storetest.RunUnavailable(t, s, storetest.Outage{Begin: stop})
}

// blocked holds the lock of a job's row in a transaction of its own.
func blocked(t *testing.T, s *Store) *fairlead.Job {
	t.Helper()
	job := &fairlead.Job{Kind: "a"}
	if err := fairlead.NewClient(s).Enqueue(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	tx, err := s.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) })
	if _, err := tx.Exec(t.Context(), "lock table "+s.query.Expand("ready")); err != nil {
		t.Fatal(err)
	}
	return job
}

func TestTheStoresOwnTimeoutFailsForNow(t *testing.T) {
	tier.Long(t, "opens a store whose timeout is short")
	s := open(t, migrated.Postgres(t), Options{QueryTimeout: 300 * time.Millisecond})
	job := blocked(t, s)
	if err := s.Cancel(t.Context(), job.ID, ""); !errors.Is(err, fairlead.ErrUnavailable) {
		t.Errorf("it fails with %v", err)
	}
}

// A caller that gives up gets the error of its own context: the database may be well.
func TestCallersThatGiveUpGetTheirOwnError(t *testing.T) {
	s := open(t, migrated.Postgres(t), Options{})
	job := blocked(t, s)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := s.Cancel(ctx, job.ID, ""); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, fairlead.ErrUnavailable) {
		t.Errorf("it fails with %v", err)
	}
}
