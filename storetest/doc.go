// Package storetest is the contract of Store as an executable suite.
//
// A store's test opens fresh databases for it:
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) *storetest.Harness { … })
//	}
//
// The suite has four parts. The contract says one thing per test, named after
// the sentence it checks, in one file per verb: `go test -v` reads like the
// contract. The traps are interleavings and inputs that broke earlier designs.
// Contention runs many processes against one database. The model plays random
// operations and compares the store with a small oracle. A variant of a store
// names the parts that it can change: see [Chunk].
//
// The suite runs in two tiers. With -short, go test runs the first tier: every clause,
// except for the few that cannot be made small, with few jobs and few rounds of each
// race. Without it, the second tier runs all clauses at full size. Each clause says in
// its own code whether it is long or what its sizes are. A run fails if a clause neither
// ran, nor is long, nor needs something that [Harness.Lacks] declares.
//
// Nobody waits for time to pass: the database's clock stands still until a test
// moves it.
package storetest
