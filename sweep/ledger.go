package sweep

import "time"

// Record is a sweep as a store keeps it: the public sweep plus the ledger that this package
// needs to steer it. A Client returns only the sweep.
type Record struct {
	Sweep
	Ledger
}

// Ledger is the part of a sweep's state that this package carries from one transaction to
// the next. Stores save and return it unchanged.
type Ledger struct {
	AskedAt  time.Time // time of the last message to the business system that the sweep is waiting
	Cut      bool      // its shards have been created
	Forgiven int64     // number of items that had failed before its last start; they do not count against the budget
	Earlier  int64     // number of items that were done before its last start
	Lately   []Failing // history of failed items over the last minute, oldest first; kept if the budget has a PerMinute
}

// Failing is the number of a sweep's failed items at one point in time.
type Failing struct {
	At    time.Time
	Items int64 // number of failed items until then
}
