// Package storetest is an executable test suite for the contract of Store.
//
// A store's test opens new databases for the suite:
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) *storetest.Harness { … })
//	}
//
// The suite has four parts. The contract has one test per statement, named after the
// sentence it checks, in one file per method: `go test -v` reads like the contract. The
// traps are interleavings and inputs that broke earlier designs. Contention runs many
// processes against one database. The model runs random operations and compares the store
// with a small oracle. A variant of a store names the parts that may behave differently in
// it: see [Chunk].
//
// The suite runs in two tiers. With -short, go test runs the first tier: every clause,
// except for the few that cannot be made small, with few jobs and few rounds of each race.
// Without -short, the second tier runs all clauses at full size. The code of each clause
// says whether it is long and what its sizes are. A run fails if a clause neither ran, nor
// is long, nor requires something that [Harness.Lacks] declares.
//
// Tests do not wait for time to pass: the database's clock stands still until a test moves
// it.
package storetest
