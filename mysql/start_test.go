package mysql

import (
	"context"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/testdb"
)

// TestNodesThatStartAtOnceOnAnEmptyDatabaseAllOpen is repeated as often as
// FAIRLEAD_STARTS says.
func TestNodesThatStartAtOnceOnAnEmptyDatabaseAllOpen(t *testing.T) {
	repeats, err := strconv.Atoi(os.Getenv("FAIRLEAD_STARTS"))
	if err != nil {
		repeats = 1
	}
	for range repeats {
		for _, nodes := range []int{3, 8} {
			address := testdb.MySQL(t)
			var all sync.WaitGroup
			for range nodes {
				all.Go(func() {
					s, err := Open(context.Background(), address)
					if err != nil {
						t.Error(err)
						return
					}
					tryOut(t, s)
				})
			}
			all.Wait()
		}
	}
}

// TestOpenOutlastsLocksOfOthers has a statement of Open wait for a lock until the
// server gives it up, as happens to nodes that start together on a busy server.
func TestOpenOutlastsLocksOfOthers(t *testing.T) {
	for _, lock := range []struct {
		name, take, release string
		pending             bool   // the schema is still to be made
		waits               string // what the processlist shows of it
	}{
		{
			"reading what was applied", "lock tables fairlead_migration write", "unlock tables",
			false, "info like 'select version%' and state = 'Waiting for table metadata lock'",
		},
		{
			"recording what was applied", "begin; insert into fairlead_migration values (1, 1, '', 0)", "rollback",
			true, "info like 'insert into%migration%' and state = 'Update'",
		},
	} {
		t.Run(lock.name, func(t *testing.T) {
			t.Parallel()
			outlast(t, lock.pending, lock.take, lock.release, lock.waits)
		})
	}
}

func outlast(t *testing.T, pending bool, take, release, waits string) {
	t.Helper()
	address := testdb.MySQL(t)
	other := openHere(t, address, Options{SchemaOnly: pending, IdleLimit: patience.Limit})
	conn, err := other.db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	run := func(statement string) {
		if _, err := conn.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if pending {
		run(other.sql.CreateMigrations)
	}
	run(take)
	opened := make(chan error, 1)
	go func() {
		s, err := Open(context.Background(), address)
		if err == nil {
			err = s.Close()
		}
		opened <- err
	}()
	for _, waiting := range []bool{true, false} { // it waits, until the server gives it up
		for begin := time.Now(); other.waiting(t, waits) != waiting; {
			select {
			case err := <-opened:
				t.Fatalf("Open returned %v while another held a lock", err)
			case <-time.After(5 * time.Millisecond):
			}
			if time.Since(begin) > patience.Limit {
				t.Fatalf("it waits for the lock: still not %v", waiting)
			}
		}
	}
	run(release)
	if err := <-opened; err != nil {
		t.Fatal(err)
	}
}

// waiting reports whether a statement of this database is in a state.
func (s *Store) waiting(t *testing.T, state string) (waits bool) {
	t.Helper()
	err := s.lifeline.QueryRowContext(t.Context(), "select count(*) > 0 from information_schema.processlist where db = database() and "+state).Scan(&waits)
	if err != nil {
		t.Fatal(err)
	}
	return waits
}
