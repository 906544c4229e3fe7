package sweep

import (
	"encoding/json"
	"time"
)

// Sweep processes many items, each identified by an index, at a given rate and with a
// limited number in flight. Only the progress is stored, so a billion items take no more
// space than ten.
//
// A sweep is divided into shards. Each shard is a job that processes its part of the items
// on the node that claimed the job.
type Sweep struct {
	ID   int64           // set by the store
	Name string          // unique name
	Kind string          // kind of its items, which selects their handler
	Data json.RawMessage // data that the handler gets with every item

	Source ItemSource // source of the items; the zero value means that items have only an index
	Items  []string   // list of items, stored once with the sweep; passed to Put and not returned. See Source.Listed
	From   int64      // first index
	To     int64      // end of the indexes, exclusive; zero means all items of the source

	InFlight int     // maximum number of items handled at once, over all shards
	Rate     float64 // items started per second, over all shards; zero = unlimited
	Serial   bool    // process one item at a time, in order
	Adaptive bool    // slow down while the target is slow or returns errors; Rate is the maximum
	Window   int     // maximum distance, in items of a shard, between the first unfinished item and the last started one; default derived from InFlight
	Shards   int     // number of shards; default 1
	PerCall  int     // number of items in one call of an HTTP target; default 1

	Attempts    int           // maximum number of attempts per item; default 5
	Backoff     time.Duration // pause between attempts of an item; default 3s
	Timeout     time.Duration // timeout of one attempt
	Budget      Budget        // number of items that may fail before the sweep stops
	OnExhausted OnExhausted   // what happens to an item after its last attempt; default ExhaustedAbandon

	Gate Gate // approval by a business system; the zero value means none

	Queue    string // queue that decides which nodes run it; DefaultQueue if empty
	Tenant   string // DefaultTenant if empty
	Priority int    // jobs of sweeps with a higher priority start first

	Version   int64     // grows with each change by a user; set by the store
	CreatedAt time.Time // set by the store
	Status
}

// ItemSource is where a sweep's items come from. At most one of File, URL, Table and a list
// is set. If none is set, items consist only of an index.
type ItemSource struct {
	File  string `json:"file,omitempty"` // name of a file with one item per line
	URL   string `json:"url,omitempty"`  // URL of a text with one item per line
	Table *Table `json:"table,omitempty"`

	// Listed is the number of items in the stored list, and Digest identifies the list.
	// Normalize sets both if Items are given; if neither changes, the stored list stays as
	// it is.
	Listed int64  `json:"listed,omitempty"`
	Digest string `json:"digest,omitempty"`
}

// Table is a database table with one item per row. An item's index is the row's integer key.
type Table struct {
	Database string   `json:"database"`          // name of a configured database
	Name     string   `json:"name"`              // name of the table
	Key      string   `json:"key"`               // name of the integer key column
	Columns  []string `json:"columns,omitempty"` // columns to read; empty means all
}

// Budget specifies how many items may fail before a sweep stops. If several fields are set,
// the sweep stops when the first of these limits is reached.
type Budget struct {
	Items     int64   `json:"items,omitempty"`      // number of items that may fail; default 100
	Percent   float64 `json:"percent,omitempty"`    // percentage of the items since the last start that may fail, once 1000 of them have ended
	PerMinute int64   `json:"per_minute,omitempty"` // number of items that may fail within any minute
}

// OnExhausted specifies what happens to an item whose last attempt fails.
type OnExhausted string

// The ways to handle an item that failed its last attempt.
const (
	ExhaustedAbandon OnExhausted = "abandon" // the item is recorded as failed and counts against the budget (the default)
	ExhaustedStop    OnExhausted = "stop"    // the sweep stops; the item remains to be done
)

// Gate lets a business system approve a sweep before it runs.
type Gate struct {
	BeforeCreate string        `json:"before_create,omitempty"` // URL that may refuse the sweep when it is created
	BeforeRun    string        `json:"before_run,omitempty"`    // URL that receives a message before a run; the sweep then waits until the business system opens it
	Timeout      time.Duration `json:"timeout,omitempty"`       // time after which the message is sent again; default 30m
}

// State is a sweep's position in its life cycle.
type State string

// The states of a sweep.
const (
	Created  State = "created"  // not started yet
	Waiting  State = "waiting"  // waits for the business system to open its gate
	Running  State = "running"  // items are processed
	Stopping State = "stopping" // no more items start; items in flight are finished
	Stopped  State = "stopped"  // stopped with items left
	Finished State = "finished" // all items are done or abandoned
)

// Status describes a sweep's current state and progress.
type Status struct {
	State     State     // current state
	Reason    string    // reason for stopping
	Run       int       // number of times that it was started
	StartedAt time.Time // time at which it first ran
	EndedAt   time.Time // time at which it last stopped or finished
	Silent    []Silence // shards with a run that has not reported for too long
	Progress
}

// Progress is a sweep's progress, summed over all of its shards.
type Progress struct {
	Total     int64   // number of items; zero until the source has been counted
	Marked    int64   // number of items before the first unfinished item of each shard
	Done      int64   // number of items that succeeded
	Abandoned int64   // number of items that failed for good
	Again     int64   // the items among Abandoned that wait for a retry
	Errors    int64   // number of failed attempts
	InWindow  int64   // finished items after the first unfinished item of each shard
	Rate      float64 // recent items per second
}

// Shard is a part of a sweep's items, together with the progress on them.
type Shard struct {
	Sweep  int64 // ID of the sweep
	Number int   // counted from 0
	From   int64 // first index
	To     int64 // zero if it ends with the source, at a position not known yet

	Job   int64 // job that processes it; zero if there is none
	Ended bool  // whether all its items are done or abandoned, and none waits for a retry

	Mark      int64           // all items before it are done, abandoned or in Pending
	Behind    int64           // number of items from the first item in Pending before Mark up to Mark; zero if there is none
	Window    []byte          // finished items after the mark, as package window encodes them
	Pending   json.RawMessage // items that wait for their next attempt
	Done      int64           // number of items that succeeded
	Abandoned int64           // number of items that failed for good
	Again     int64           // the items among Abandoned that wait for a retry
	Errors    int64           // number of failed attempts
	Source    json.RawMessage // position of the source, needed to continue

	Share    Share     // its share of the sweep's rate and parallelism; zero if it was granted to an earlier run
	Told     Share     // maximum that its run may be using: Share, and earlier grants until the run has received Share
	Used     Share     // share that it last reported to use
	Fence    int64     // fence of the run that wrote this
	SavedAt  time.Time // time of the last checkpoint
	Measured float64   // recent items per second
}

// Share is a part of a sweep's rate and parallelism.
type Share struct {
	Rate     float64 `json:"rate,omitempty"`      // zero = unlimited
	InFlight int     `json:"in_flight,omitempty"` // zero means that nothing may start
}

// LeastRate is the rate of a run that must not start any items but still has items in
// flight. A rate of zero would mean unlimited.
const LeastRate = 1e-9

// Checkpoint is the progress that a shard's run stores about once a second.
type Checkpoint struct {
	Sweep, Job, Fence int64
	Number            int   // number of the shard
	To                int64 // end of the shard, if it was not known before; zero leaves it unchanged
	Mark              int64
	Behind            int64
	Window            []byte
	Pending           json.RawMessage
	Source            json.RawMessage // nil leaves it unchanged
	Done              int64
	Abandoned         int64
	Again             int64 // the items among Abandoned that still wait for a retry
	Errors            int64
	Measured          float64
	Used              Share // last share received, or more if more is in flight; LeastRate if the share is nothing
	Ended             bool  // all items are done or abandoned

	// Results of items since the previous checkpoint. A result may be reported twice.
	Failed []FailedItem // items that failed, for the first time or again
	Redone []int64      // items that had failed and are now done
}

// Orders is the response to a Checkpoint.
type Orders struct {
	Stop  bool            // start no more items
	Share Share           // share of the sweep's rate and parallelism
	Data  json.RawMessage // data for the handler from now on
	Left  int64           // remaining budget over all shards; negative = unlimited
}

// FailedItem is an item that failed permanently.
type FailedItem struct {
	Sweep    int64 // ID of the sweep
	Index    int64
	Attempts int       // number of attempts
	Error    string    // text of the last failure
	At       time.Time // time of the last failure
	Again    bool      // the item waits for a retry
}

// Log is a log line about an item. A business system or a handler wrote it.
type Log struct {
	ID    int64     // set by the store
	Sweep int64     // ID of the sweep
	Index int64     // index of the item
	Level string    // debug, info, warn or error
	Text  string    // text of the line, at most 4000 bytes
	At    time.Time // set by the store
}

// Event is an action on a sweep or a change in its state.
type Event struct {
	ID     int64     // set by the store; later events have larger IDs
	At     time.Time // set by the store
	By     string    // empty if the change was automatic
	Action string    // action or cause of the event
	From   State     // state before
	To     State     // state after
	Note   string    // further details
}
