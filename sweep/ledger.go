package sweep

import "time"

// Record is a sweep as a store keeps it: the sweep that users see, and the ledger that
// this package needs to steer it. A Client returns only the sweep.
type Record struct {
	Sweep
	Ledger
}

// Ledger is the information about a sweep that this package keeps from one transaction
// to the next. A store keeps all of it and changes none of it.
type Ledger struct {
	AskedAt  time.Time // time of the last message to the business that the sweep waits
	Cut      bool      // its shards have been created
	Forgiven int64     // number of items that had failed before its last start; they do not count against the budget
	Earlier  int64     // number of items that were done before its last start
	Lately   []Failing // history of failed items over the last minute, oldest first; kept if the budget has a PerMinute
}

// Failing is the number of failed items of a sweep at one time.
type Failing struct {
	At    time.Time
	Items int64
}
