package sweep

import "time"

// Record is a sweep as a store keeps it: the sweep of the users, and the ledger by which
// this package steers it. A Client returns only the sweep.
type Record struct {
	Sweep
	Ledger
}

// Ledger is what this package writes down about a sweep between two transactions. A store
// keeps all of it and changes none of it.
type Ledger struct {
	AskedAt  time.Time // when the last message to the business said that the sweep waits
	Cut      bool      // its shards have been made
	Forgiven int64     // items that had failed before it was last started: they take nothing from the budget
	Earlier  int64     // items that were done before it was last started
	Lately   []Failing // how many items had failed when, over the last minute, the oldest first; kept if the budget has a PerMinute
}

// Failing is how many items of a sweep had failed at a time.
type Failing struct {
	At    time.Time
	Items int64
}
