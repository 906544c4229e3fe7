package storetest

import (
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
)

// Harness is one fresh, empty database as a store's test sees it.
type Harness struct {
	// Open gives another store on the same database, as another process would
	// have it. It is closed when t ends. For a database that only one can open
	// it may always give the same store.
	Open func(t testing.TB) fairlead.Store
	// Advance moves the database's clock forward for all stores of the
	// harness. It stands still otherwise. Stores may be in use meanwhile.
	Advance func(d time.Duration)
	// Begin starts a caller's own transaction on the store's database. If it is
	// nil, what needs one is skipped.
	Begin func(t testing.TB, s fairlead.Store) Transaction
	// SerialWrites says that the database has one writer at a time: while a
	// transaction that wrote is open, every other write waits for its end.
	SerialWrites bool
}

// Transaction is a caller's own transaction and what the store does in it.
type Transaction struct {
	Tx               fairlead.Tx
	Commit, Rollback func() error
}

// Opener makes a harness for a test, and removes its database when the test
// ends.
type Opener = func(t *testing.T) *Harness

// Run checks everything a store has to do.
func Run(t *testing.T, open Opener) {
	RunContract(t, open)
	RunTraps(t, open)
	RunContention(t, open)
	RunModel(t, open)
}

// RunContract checks the contract, sentence by sentence.
func RunContract(t *testing.T, open Opener) {
	for _, verb := range []struct {
		name  string
		tests func(*chapter)
	}{
		{"Enqueue", testEnqueue},
		{"Keys", testKeys},
		{"Once", testOnce},
		{"Tx", testTx},
		{"Get", testGet},
		{"Find", testFind},
		{"Tally", testTally},
		{"Attempts", testAttempts},
		{"Now", testNow},
		{"Cancel", testCancel},
		{"Reopen", testReopen},
		{"Reschedule", testReschedule},
		{"RunNow", testRunNow},
		{"SetPriority", testSetPriority},
		{"Delete", testDelete},
		{"Pause", testPause},
		{"Drain", testDrain},
		{"Tokens", testTokens},
		{"Audit", testAudit},
		{"Secret", testSecret},
		{"Tenants", testTenants},
		{"Caps", testCaps},
		{"Rates", testRates},
		{"Minimums", testMinimums},
		{"Leaving", testLeaving},
		{"Pending", testPending},
		{"Gates", testGates},
		{"Usage", testUsage},
		{"Explain", testExplain},
		{"Resolve", testResolve},
		{"Nodes", testNodes},
		{"Claim", testClaim},
		{"Order", testOrder},
		{"Solo", testSolo},
		{"Settle", testSettle},
		{"Save", testSave},
		{"Listen", testListen},
		{"Promote", testPromote},
		{"Reap", testReap},
		{"Expire", testExpire},
		{"Prune", testPrune},
		{"Schedules", testSchedules},
		{"DeleteSchedule", testDeleteSchedule},
		{"Calendars", testCalendars},
		{"Tick", testTick},
		{"Act", testAct},
		{"Plans", testPlans},
		{"Replaced", testReplaced},
		{"Views", testViews},
		{"Fires", testFires},
		{"Use", testUse},
		{"Sweeps", testSweeps},
	} {
		runChapter(t, open, verb.name, verb.tests)
	}
}

// RunTraps checks the interleavings and inputs that are easy to get wrong.
func RunTraps(t *testing.T, open Opener) {
	runChapter(t, open, "Traps", testTraps)
	runChapter(t, open, "Races", testRaces)
	runChapter(t, open, "Races of schedules", testPlannerRaces)
	runChapter(t, open, "Batches", testBatches)
	runChapter(t, open, "Texts", testTexts)
}

// RunContention checks that many processes together keep the contract.
func RunContention(t *testing.T, open Opener) {
	runChapter(t, open, "Contention", testContention)
}

// RunModel compares the store with a small oracle under random operations.
// The flags of pgregory.net/rapid choose how many and which.
func RunModel(t *testing.T, open Opener) {
	t.Run("Model", func(t *testing.T) {
		t.Parallel()
		testModel(t, open)
	})
	t.Run("Model of limits", func(t *testing.T) {
		t.Parallel()
		testLimitsModel(t, open)
	})
	t.Run("Model of schedules", func(t *testing.T) {
		t.Parallel()
		testPlannerModel(t, open)
	})
}
