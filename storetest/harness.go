package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/driver"
)

// Harness is one fresh, empty database as a store's test sees it.
type Harness struct {
	// Open gives another store on the same database, as another process would
	// have it. It is closed when t ends. For a database that only one can open
	// it may always give the same store.
	Open func(t testing.TB) Store
	// Advance moves the database's clock forward for all stores of the
	// harness, back if d is negative. It stands still otherwise. Stores may be
	// in use meanwhile.
	Advance func(d time.Duration)
	// Empty removes all rows that the store's verbs made, in one go; but neither
	// lanes nor secrets, which last, nor what numbers are drawn from. It fails if
	// there is too much, see TooMuch: the next test then gets a new database. If
	// it is nil, the store's verbs remove what they can, which takes far longer.
	Empty func(s Store) error
	// Begin starts a caller's own transaction on the store's database. It is nil if
	// the harness lacks [Transactions].
	Begin func(t testing.TB, s Store) Transaction
	// SerialWrites says that the database has one writer at a time: while a
	// transaction that wrote is open, every other write waits for its end. It is set if
	// the harness lacks [OtherWriters].
	SerialWrites bool
	// Waiting counts the statements on this database that wait for a lock now. It is nil
	// if the harness lacks [LockWaits].
	Waiting func() int
	// Lacks gives the reason for everything that clauses need and this database does not
	// have. Those clauses do not apply to it. No other clause may be skipped.
	Lacks map[Need]string
}

// Need is something that some clauses need of a database.
type Need string

// What a database may lack.
const (
	// Transactions are transactions of callers.
	Transactions Need = "transactions of callers"
	// OtherWriters are writes next to an open transaction that wrote.
	OtherWriters Need = "other writers"
	// LockWaits tell whether a statement waits for a lock.
	LockWaits Need = "lock waits"
	// OtherProcesses open the database a second time.
	OtherProcesses Need = "other processes"
)

// check returns an error if what the harness has and what it declares to lack differ.
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

// Transaction is a caller's own transaction and what the store does in it.
type Transaction struct {
	Tx               driver.Tx
	Commit, Rollback func() error
}

// Opener makes a harness for a test, and removes its database when the test
// ends.
type Opener = func(t *testing.T) *Harness

// TooMuch reports whether removing so many jobs would cost more than a new
// database, or so many lanes, which last, would make later tests of another
// kind.
func TooMuch(jobs, lanes int) error {
	const mostLanes = 40
	if jobs > tooMany || lanes > mostLanes {
		return fmt.Errorf("%d jobs and %d lanes are left", jobs, lanes)
	}
	return nil
}

// Store is all that the suite judges.
type Store interface {
	driver.Store
	access.Store
}
