package sqlite_test

import (
	"database/sql"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/sqlite"
	"github.com/fairlead-io/fairlead/storetest"
)

// clock stands still until it is moved.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func open(t testing.TB, url string, o sqlite.Options) *sqlite.Store {
	t.Helper()
	s, err := sqlite.OpenWith(t.Context(), url, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// begin starts a transaction of a caller.
func begin(t testing.TB, db *sql.DB, s *sqlite.Store) storetest.Transaction {
	t.Helper()
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback() })
	return storetest.Transaction{Tx: s.Tx(tx), Commit: tx.Commit, Rollback: tx.Rollback}
}

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) *storetest.Harness {
		clock, file := newClock(), filepath.Join(t.TempDir(), "jobs.db")
		return &storetest.Harness{
			Open: func(t testing.TB) storetest.Store {
				return open(t, "sqlite://"+file, sqlite.Options{Clock: clock.Now, Synchronous: "off"})
			},
			Advance: clock.Advance,
			Empty:   empty,
			Begin: func(t testing.TB, s storetest.Store) storetest.Transaction {
				store := s.(*sqlite.Store)
				return begin(t, store.DB(), store)
			},
			SerialWrites: true,
			Lacks: map[storetest.Need]string{
				storetest.OtherWriters: "SQLite has one writer at a time, every other one waits for it",
				storetest.LockWaits:    "every write waits for the one before it",
			},
		}
	})
}

// TestStoreInMemory has one connection for everything: while a caller has a
// transaction open, not even reads go on. Any verb could wait for itself there;
// what it writes is the same as in a file. What its tests left is removed with
// its verbs, because it caches what no other process could have changed.
func TestStoreInMemory(t *testing.T) {
	tier.Long(t, "repeats the contract in memory")
	storetest.Run(t, func(t *testing.T) *storetest.Harness {
		clock := newClock()
		store := open(t, "sqlite://:memory:", sqlite.Options{Clock: clock.Now})
		return &storetest.Harness{
			Open:         func(testing.TB) storetest.Store { return store },
			Advance:      clock.Advance,
			SerialWrites: true,
			Lacks: map[storetest.Need]string{
				storetest.OtherWriters:   "SQLite has one writer at a time, every other one waits for it",
				storetest.LockWaits:      "every write waits for the one before it",
				storetest.Transactions:   "a transaction holds the only connection",
				storetest.OtherProcesses: "a database in memory belongs to one process",
			},
		}
	}, storetest.Enqueuing, storetest.Reading, storetest.Claiming, storetest.Administering, storetest.Scheduling,
		storetest.Interleaving, storetest.Planning, storetest.Contention)
}
