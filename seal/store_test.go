package seal_test

import (
	"sync"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/seal"
	"github.com/fairlead-io/fairlead/sqlite"
	"github.com/fairlead-io/fairlead/storetest"
)

// sealedStore is a complete store with sealed documents.
type sealedStore struct {
	*seal.Store
	registry
	inner *sqlite.Store
}

type registry = access.Store

// Close closes the database.
func (s sealedStore) Close() error { return s.inner.Close() }

func keys(t testing.TB) *seal.Keys {
	t.Helper()
	k, err := seal.NewKeys(seal.Key{ID: "test", Secret: make([]byte, 32)})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

type clock struct {
	mu  sync.Mutex
	now time.Time
}

// Now returns the time that the database uses.
func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves it.
func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// TestASealedStoreIsAStore checks the contract of stores: only the bytes in the database
// differ.
func TestASealedStoreIsAStore(t *testing.T) {
	whole := []storetest.Section{storetest.Enqueuing, storetest.Reading, storetest.Claiming, storetest.Administering, storetest.Scheduling, storetest.Conducting, storetest.Sweeping}
	// Reads and claims of sealed jobs have tests of their own.
	sealing := []storetest.Section{storetest.Enqueuing, storetest.Administering, storetest.Scheduling, storetest.Conducting, storetest.Sweeping}
	sections := tier.Size(t, sealing, whole, "the whole contract, on a store that wraps another")
	storetest.Run(t, func(t *testing.T) *storetest.Harness {
		clock, file := &clock{now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}, sqlitetest.File(t)
		return &storetest.Harness{
			Open: func(t testing.TB) storetest.Store {
				inner, err := sqlite.OpenWith(t.Context(), "sqlite://"+file, sqlite.Options{Clock: clock.Now, Synchronous: "off"})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = inner.Close() })
				return sealedStore{seal.Wrap(inner, keys(t)), seal.WrapAccess(inner, keys(t)), inner}
			},
			Advance: clock.Advance,
			Begin: func(t testing.TB, s storetest.Store) storetest.Transaction {
				store := s.(sealedStore)
				tx, err := store.inner.DB().BeginTx(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = tx.Rollback() })
				return storetest.Transaction{Tx: store.Within(store.inner.Tx(tx)), Commit: tx.Commit, Rollback: tx.Rollback}
			},
			SerialWrites: true,
			Lacks: map[storetest.Need]string{
				storetest.OtherWriters: "SQLite has one writer at a time, every other one waits for it",
				storetest.LockWaits:    "every write waits for the one before it",
			},
		}
	}, sections...)
}
