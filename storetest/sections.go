package storetest

import (
	"slices"
	"testing"
)

// A Section is a group of chapters. A variant of a store, such as one behind a connection
// pooler, runs the sections that may behave differently in the variant.
type Section int

// Sections of the suite.
const (
	// Enqueuing covers storing jobs, including in callers' transactions.
	Enqueuing Section = iota + 1
	// Reading covers queries for jobs.
	Reading
	// Claiming covers the life of jobs, from claims and the limits for them to the end.
	Claiming
	// Administering covers nodes, tokens, secrets, the audit log and pruning.
	Administering
	// Scheduling covers schedules and their runs.
	Scheduling
	// Conducting covers batches and their tasks.
	Conducting
	// Sweeping covers sweeps and their shards.
	Sweeping
	// Interleaving covers concurrent operations that are easy to get wrong.
	Interleaving
	// Planning covers concurrent operations on schedules.
	Planning
	// Sizes covers large batches.
	Sizes
	// Texts covers names, bytes and times that are easy to change by accident.
	Texts
	// Contention covers many processes on one database.
	Contention
	// Modelling compares the store with small oracles under random operations. The flags of
	// pgregory.net/rapid control their number and selection.
	Modelling
	// PlanModelling does the same for schedules.
	PlanModelling
)

// chapters returns all chapters, in the order of the contract.
func chapters() []titled {
	return []titled{
		{"Enqueue", Enqueuing, testEnqueue},
		{"Keys", Enqueuing, testKeys},
		{"Once", Enqueuing, testOnce},
		{"Tx", Enqueuing, testTx},
		{"Tx of features", Scheduling, testTxOfFeatures},
		{"Get", Reading, testGet},
		{"Find", Reading, testFind},
		{"Tally", Reading, testTally},
		{"Attempts", Reading, testAttempts},
		{"Now", Reading, testNow},
		{"Cancel", Claiming, testCancel},
		{"Reopen", Claiming, testReopen},
		{"Reschedule", Claiming, testReschedule},
		{"RunNow", Claiming, testRunNow},
		{"SetPriority", Claiming, testSetPriority},
		{"SetQueue", Claiming, testSetQueue},
		{"Delete", Claiming, testDelete},
		{"Others", Claiming, testOthers},
		{"Pause", Claiming, testPause},
		{"Drain", Administering, testDrain},
		{"Tokens", Administering, testTokens},
		{"Bulks", Administering, testBulks},
		{"BulkOnce", Administering, testBulkOnce},
		{"BulkSteps", Administering, testBulkSteps},
		{"BulkRaces", Administering, testBulkRaces},
		{"JobAlerts", Administering, testJobAlerts},
		{"Holds", Reading, testHolds},
		{"Samples", Reading, testSamples},
		{"History", Reading, testHistory},
		{"Audit", Administering, testAudit},
		{"Secret", Administering, testSecret},
		{"Confidential", Administering, testConfidential},
		{"Tenants", Claiming, testTenants},
		{"Caps", Claiming, testCaps},
		{"LimitsSeen", Claiming, testLimitsSeen},
		{"Rates", Claiming, testRates},
		{"Minimums", Claiming, testMinimums},
		{"Fair", Claiming, testFair},
		{"WhatIf", Claiming, testWhatIf},
		{"Leaving", Claiming, testLeaving},
		{"Pending", Claiming, testPending},
		{"Gates", Claiming, testGates},
		{"Usage", Reading, testUsage},
		{"Explain", Reading, testExplain},
		{"Resolve", Claiming, testResolve},
		{"Extend", Claiming, testExtend},
		{"Nodes", Administering, testNodes},
		{"Claim", Claiming, testClaim},
		{"Order", Claiming, testOrder},
		{"Solo", Claiming, testSolo},
		{"Settle", Claiming, testSettle},
		{"Save", Claiming, testSave},
		{"Listen", Claiming, testListen},
		{"Promote", Claiming, testPromote},
		{"Reap", Claiming, testReap},
		{"Lived", Claiming, testLived},
		{"Leases", Claiming, testLeases},
		{"Expire", Claiming, testExpire},
		{"Prune", Administering, testPrune},
		{"Retention of kinds", Administering, testKindRetention},
		{"Schedules", Scheduling, testSchedules},
		{"Soonest schedules", Scheduling, testSoonest},
		{"DeleteSchedule", Scheduling, testDeleteSchedule},
		{"Calendars", Scheduling, testCalendars},
		{"Changed calendars", Scheduling, testChangedCalendars},
		{"Obeyed calendars", Scheduling, testObeyedCalendars},
		{"Tick", Scheduling, testTick},
		{"Catching up", Scheduling, testCatchingUp},
		{"Act", Scheduling, testAct},
		{"Plans", Scheduling, testPlans},
		{"Replaced", Scheduling, testReplaced},
		{"Views", Scheduling, testViews},
		{"Fires", Scheduling, testFires},
		{"WhatIf of schedules", Scheduling, testWhatIfFires},
		{"Alerts", Scheduling, testAlerts},
		{"Unseen runs", Scheduling, testUnseenRuns},
		{"Use", Administering, testUse},
		{"Batches of tasks", Conducting, testConductor},
		{"Unseen tasks", Conducting, testUnseenTasks},
		{"Sweeps", Sweeping, testSweeps},
		{"Unseen shards", Sweeping, testUnseenShards},
		{"Edges", Texts, testEdges},
		{"Traps", Interleaving, testTraps},
		{"Races", Interleaving, testRaces},
		{"Transactions", Interleaving, testCallersTransactions},
		{"Waits", Interleaving, testWaits},
		{"Locked", Interleaving, testLocked},
		{"Held schedules", Interleaving, testHeldSchedules},
		{"Held limits", Interleaving, testHeldLimits},
		{"Races of schedules", Planning, testPlannerRaces},
		{"Batches", Sizes, testBatches},
		{"Texts", Texts, testTexts},
		{"Unkeepable", Texts, testUnkeepable},
		{"Contention", Contention, testContention},
		{"Model", Modelling, testModel},
		{"Model of limits", Modelling, testLimitsModel},
		{"Model of schedules", PlanModelling, testPlannerModel},
	}
}

type titled struct {
	title   string
	section Section
	tests   func(*chapter)
}

// Run checks that a store fulfills the contract: all of it, or the given sections. It fails
// if a clause neither ran, nor is left to the second tier, nor requires something that the
// harness declares to lack.
func Run(t *testing.T, open Opener, sections ...Section) {
	shelf, wanted := newShelf(t, open), chaptersOf(sections)
	contract := read(wanted)
	t.Cleanup(func() { contract.check(t) })
	for _, each := range wanted {
		runChapter(t, shelf, contract, each)
	}
}

// chaptersOf returns the chapters of the given sections, or all chapters.
func chaptersOf(sections []Section) []titled {
	return slices.DeleteFunc(chapters(), func(each titled) bool { return len(sections) > 0 && !slices.Contains(sections, each.section) })
}
