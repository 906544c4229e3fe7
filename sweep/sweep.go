package sweep

import (
	"encoding/json"
	"time"
)

// Sweep goes over many items, by their index, with a bounded number in flight and
// at a set rate. Only how far it has come is stored: a billion items take no more
// room than ten.
//
// It is cut into shards. Each is a job that goes over its part of the items on
// the node that has claimed it.
type Sweep struct {
	ID   int64 // set by the store
	Name string
	Kind string          // names the handler of its items
	Data json.RawMessage // what the handler is given with every item

	Source ItemSource
	Items  []string // a list to go over, stored with the sweep once; it is given to Put and not returned. See Source.Listed
	From   int64    // the first index
	To     int64    // the first that does not count any more; zero: as many as the source has

	InFlight int     // items that are handled at once, over all shards
	Rate     float64 // items begun per second, over all shards; zero: no bound
	Serial   bool    // one item after the other
	Adaptive bool    // go slower while the target errs or is slow; Rate is the bound
	Window   int     // items of a shard between the first that is not done and the last that was begun; zero: by InFlight
	Shards   int     // 1 if it is not said
	PerCall  int     // items that one call of an HTTP target gets; 1 if it is not said

	Attempts    int           // of one item; 5 if it is not said
	Backoff     time.Duration // between them; 3s if it is not said
	Timeout     time.Duration // of one attempt
	Budget      Budget
	OnExhausted OnExhausted

	Gate Gate

	Queue    string // which nodes run it; DefaultQueue if empty
	Tenant   string // DefaultTenant if empty
	Priority int

	Version   int64     // grows with each change by people; set by the store
	CreatedAt time.Time // set by the store
	Status
}

// ItemSource says where the items of a sweep come from: at most one of these; none:
// they are indexes and nothing else.
type ItemSource struct {
	File  string `json:"file,omitempty"` // lines of a file
	URL   string `json:"url,omitempty"`  // lines of what is there
	Table *Table `json:"table,omitempty"`

	// Listed is how many items the stored list has, and Digest tells one list from another.
	// Normalize sets both if Items are given; with neither changed the list stays as it is.
	Listed int64  `json:"listed,omitempty"`
	Digest string `json:"digest,omitempty"`
}

// Table is rows of a table, by an integer key. The index of an item is its key.
type Table struct {
	Database string   `json:"database"` // name of a configured database
	Name     string   `json:"name"`
	Key      string   `json:"key"`
	Columns  []string `json:"columns,omitempty"` // empty: all
}

// Budget is how many items may fail before a sweep stops. Of several
// the first that is used up counts.
type Budget struct {
	Items     int64   `json:"items,omitempty"`      // 100 if nothing is said
	Percent   float64 `json:"percent,omitempty"`    // of the items that ended since it was last started, once these are 1000
	PerMinute int64   `json:"per_minute,omitempty"` // within any minute
}

// OnExhausted is what becomes of an item whose attempts are used up.
type OnExhausted string

// The answers to used up attempts.
const (
	ExhaustedAbandon OnExhausted = "abandon" // it is noted as failed and takes one from the budget (the default)
	ExhaustedStop    OnExhausted = "stop"    // the sweep stops; the item has not been done
)

// Gate is what the business is asked before a sweep runs.
type Gate struct {
	BeforeCreate string        `json:"before_create,omitempty"` // address that may refuse it
	BeforeRun    string        `json:"before_run,omitempty"`    // address that gets a message; then the sweep waits until the business opens it
	Timeout      time.Duration `json:"timeout,omitempty"`       // after which the message is sent again; 30m if it is zero
}

// State says how a sweep stands.
type State string

// The states of a sweep.
const (
	Created  State = "created"
	Waiting  State = "waiting" // for the business to open it
	Running  State = "running"
	Stopping State = "stopping" // nothing more is begun, what is in flight ends
	Stopped  State = "stopped"
	Finished State = "finished"
)

// Status is how a sweep stands.
type Status struct {
	State     State
	Reason    string    // why it stopped
	Run       int       // how often it was started
	StartedAt time.Time // when it first ran
	EndedAt   time.Time // when it last stopped or finished
	Silent    []Silence // shards whose runs are not heard of
	Progress
}

// Progress is how far the shards of a sweep have come.
type Progress struct {
	Total     int64 // items; zero while the source has not been counted
	Marked    int64 // items before the first of each shard that is neither done nor abandoned
	Done      int64
	Abandoned int64 // failed for good
	Again     int64 // of Abandoned: those that wait to be tried again
	Errors    int64 // attempts that failed
	InWindow  int64 // done or abandoned behind that
	Rate      float64
}

// Shard is a part of a sweep's items and how far it has come.
type Shard struct {
	Sweep  int64
	Number int // from 0
	From   int64
	To     int64 // zero: as far as the source goes, which is not known yet

	Job   int64 // that goes over it; zero: none does
	Ended bool  // all its items are done or abandoned, and none waits to be tried again

	Mark      int64           // everything before is done or abandoned, or in Pending
	Behind    int64           // from the first item in Pending before Mark up to Mark; zero: there is none
	Window    []byte          // which items behind the mark are, as package window encodes it
	Pending   json.RawMessage // items that wait for their next attempt
	Done      int64
	Abandoned int64
	Again     int64 // of Abandoned: those that wait to be tried again
	Errors    int64
	Source    json.RawMessage // what the source has to know to go on

	Share    Share     // what it may use of the sweep's rate and parallelism; nothing if it was granted to an earlier run
	Told     Share     // the most that its run may have been ordered: Share, and what was granted before until the run has got Share
	Used     Share     // what it said last that it uses
	Fence    int64     // of the run that wrote this
	SavedAt  time.Time // when
	Measured float64   // items per second of late
}

// Share is a part of what a sweep may do at once.
type Share struct {
	Rate     float64 `json:"rate,omitempty"`      // zero: no bound
	InFlight int     `json:"in_flight,omitempty"` // zero: nothing may be begun
}

// LeastRate is the rate of a run that may begin nothing and still has items in flight:
// zero would be no bound.
const LeastRate = 1e-9

// Checkpoint is what the run of a shard stores about once a second.
type Checkpoint struct {
	Sweep, Job, Fence int64
	Number            int
	To                int64 // if that of the shard was not known; zero: as it is
	Mark              int64
	Behind            int64
	Window            []byte
	Pending           json.RawMessage
	Source            json.RawMessage // nil: as it was
	Done              int64
	Abandoned         int64
	Again             int64 // of Abandoned: those that still wait to be tried again
	Errors            int64
	Measured          float64
	Used              Share // what it was last allowed, or more if more is in flight; LeastRate if it was allowed nothing
	Ended             bool  // all items are done or abandoned

	// What has become of items since the checkpoint before. It may be reported twice.
	Failed []FailedItem // failed, for the first time or again
	Redone []int64      // had failed and are done now
}

// Orders is the answer to a Checkpoint.
type Orders struct {
	Stop  bool // begin nothing more
	Share Share
	Data  json.RawMessage // what the handler is given from now on
	Left  int64           // of the budget, over all shards; negative: no bound
}

// FailedItem is an item that failed for good.
type FailedItem struct {
	Sweep    int64
	Index    int64
	Attempts int
	Error    string
	At       time.Time
	Again    bool // it waits to be tried again
}

// Log is a line that the business, or a handler, wrote about an item.
type Log struct {
	ID    int64 // set by the store
	Sweep int64
	Index int64
	Level string
	Text  string
	At    time.Time // set by the store
}

// Event is what was done to a sweep, or what became of it.
type Event struct {
	ID     int64     // set by the store; later events have larger ones
	At     time.Time // set by the store
	By     string    // empty if the change was automatic
	Action string
	From   State
	To     State
	Note   string
}
