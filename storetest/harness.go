package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/driver"
)

// A Harness is a new, empty database for a store's test.
type Harness struct {
	// Open returns another store on the same database, as in another process. The store is
	// closed when t ends. For a database that only one process can open, Open may always
	// return the same store.
	Open func(t testing.TB) Store
	// Advance moves the database's clock forward for all stores of the harness, or backward if
	// d is negative. Otherwise the clock stands still. Stores may be in use during the call.
	Advance func(d time.Duration)
	// Empty deletes all rows created through the store in one operation, except lanes and
	// secrets, which are permanent, and the counters of IDs. It fails if there are too many
	// rows, see TooMuch: the next test then gets a new database. If Empty is nil, the suite
	// deletes as much as possible through the store, which takes far longer.
	Empty func(s Store) error
	// Begin starts a caller's own transaction on the store's database. It is nil if the
	// harness lacks [Transactions].
	Begin func(t testing.TB, s Store) Transaction
	// SerialWrites reports that the database has one writer at a time: while a transaction
	// with writes is open, every other write waits for its end. It is set if the harness lacks
	// [OtherWriters].
	SerialWrites bool
	// Waiting returns the number of statements on this database that are waiting for a lock.
	// It is nil if the harness lacks [LockWaits].
	Waiting func() int
	// Lacks contains, for each feature that this database lacks, the reason. Clauses that
	// require such a feature do not apply to the database. All other clauses must run.
	Lacks map[Need]string
}

// A Need is a database feature that some clauses require.
type Need string

// Features that a database may lack.
const (
	// Transactions means transactions of callers.
	Transactions Need = "transactions of callers"
	// OtherWriters means writes next to an open transaction that has written.
	OtherWriters Need = "other writers"
	// LockWaits means detecting statements that wait for a lock.
	LockWaits Need = "lock waits"
	// OtherProcesses means opening the database a second time.
	OtherProcesses Need = "other processes"
)

// check returns an error if Lacks does not match the features of the harness.
func (h *Harness) check() error {
	for need, missing := range map[Need]bool{Transactions: h.Begin == nil, OtherWriters: h.SerialWrites, LockWaits: h.Waiting == nil} {
		if declared := h.Lacks[need] != ""; declared != missing {
			return fmt.Errorf("the harness lacks %s: %t, declares this with a reason in Lacks: %t", need, missing, declared)
		}
	}
	return nil
}

// needs ends a clause that does not apply to the harness.
func (f *fixture) needs(needs ...Need) {
	f.Helper()
	for _, need := range needs {
		if reason, lacks := f.Lacks[need]; lacks {
			*f.inapplicable = true
			f.Skipf("needs %s: %s", need, reason)
		}
	}
}

// A Transaction is a caller's own transaction with the store's operations in it.
type Transaction struct {
	Tx               driver.Tx
	Commit, Rollback func() error
}

// An Opener returns a harness for a test, and removes its database when the test ends.
type Opener = func(t *testing.T) *Harness

// TooMuch returns an error if deleting this many jobs would cost more than a new database,
// or if this many lanes, which are permanent, would change the conditions of later tests.
func TooMuch(jobs, lanes int) error {
	const mostLanes = 40
	if jobs > tooMany || lanes > mostLanes {
		return fmt.Errorf("%d jobs and %d lanes are left", jobs, lanes)
	}
	return nil
}

// A Store combines all interfaces that the suite tests.
type Store interface {
	driver.Store
	access.Store
}

// operations returns the operations of a store on one job.
func operations(store Store) *driver.Operations { return &driver.Operations{On: store} }
