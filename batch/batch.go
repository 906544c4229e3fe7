package batch

import (
	"encoding/json"
	"time"

	"github.com/fairlead-io/fairlead"
)

// Batch is one operation on many targets: as many tasks, each of them a job with
// what to apply and what was there before, under one name, with one state, that can
// be cancelled, retried and rolled back as a whole.
type Batch struct {
	ID          int64  // set by the store
	Name        string // for people; need not be unique
	Type        string // what is done; with the type of the target it names the kind of the tasks
	Description string

	Creator string
	Env     string
	AZ      string
	Service string
	Info    json.RawMessage // whatever else the caller wants to keep with it

	Queue    string // region: which nodes run its tasks; DefaultQueue if empty
	Tenant   string // DefaultTenant if empty
	Priority int

	MaxRunning int           // tasks that are let out at once; zero: no bound
	Rate       float64       // tasks that are let out per second; zero: no bound
	Timeout    time.Duration // of one attempt; zero: that of the operation
	Canary     Canary
	StopAfter  Threshold

	// Then are jobs that are enqueued when it completes, in the transaction that
	// finds out. If it is opened again and completes again so are they.
	Then []fairlead.Job
	// Notify is an address that is told of each completion, at least once.
	Notify string

	CreatedAt time.Time // set by the store
	Status
}

// Canary lets the first tasks of a batch go ahead of the others.
type Canary struct {
	Tasks int     // how many; zero: all tasks are alike
	Ratio float64 // of them that has to succeed for the others to follow by themselves; zero: somebody has to approve
}

// Threshold is how many failures pause a batch. Either may be zero: then it does
// not count.
type Threshold struct {
	Failures int
	Percent  float64 // of all tasks
}

// Status is how a batch stands.
type Status struct {
	Total int   // tasks
	Tally Tally // of its tasks; as of the last look, but for what is running

	Held      int // tasks of the first pass that were not let out yet
	HeldRetry int // the same of passes that retry
	HeldUndo  int // the same of passes that roll back
	Out       int // tasks that were let out, and have not been seen to have ended
	OutUndo   int // those of them that are rolled back
	Doubtful  int // failed tasks that may have been applied all the same

	Opened    bool   // all tasks are stored: only then anybody sees it
	Undoing   bool   // it is rolled back as a whole: nothing goes forward any more
	Undo      Wanted // how
	Cancelled bool   // nothing goes forward any more
	Paused    bool   // nothing is let out
	Reason    string // why it is paused or cancelled
	Approved  bool   // the tasks behind the canary follow
	Forgiven  int    // failures that do not count for the threshold any more

	Passes     []Pass    // through its tasks, oldest first
	Wanted     []Wanted  // passes that are still to be made
	Wants      int       // how many were ever asked for
	Tries      int       // how often somebody began to make one
	PreparedAt time.Time // when somebody last did

	Ahead       int       // tasks to let out at once, if MaxRunning does not say
	OutAt       time.Time // when tasks were last let out
	Saved       float64   // what the rate allowed at that time and was not used
	SoughtAt    time.Time // when it was last looked whether jobs were removed
	Seen        Seen      `json:",omitzero"`
	Completions int       // how often it completed
	StartedAt   time.Time // when the first task was let out; zero: none was
	EndedAt     time.Time // when it completed; zero: it has not, or was opened again
}

// PassKind is what a pass does with tasks.
type PassKind string

// The kinds of passes.
const (
	PassForward PassKind = "forward"
	PassRetry   PassKind = "retry"
	PassUndo    PassKind = "undo"
	// PassThen are no tasks but the jobs of a completion: those whose IDs were set
	// aside for it.
	PassThen PassKind = "then"
)

// Pass is one way through tasks of a batch: all of them forward at first, then
// those that are retried or rolled back.
type Pass struct {
	Number int // which of Tries it was
	Kind   PassKind
	Tasks  int
	Serial bool // each task waits for the one before
}

// Wanted is a pass that somebody asked for.
type Wanted struct {
	Number int // which of Wants it is
	Kind   PassKind
	Tasks  []int64 // IDs; nil: all that come into question
	Failed bool    // PassUndo: failed tasks that had started too
	Serial bool    // PassUndo
}

// Target is what a task is done to.
type Target struct {
	ID   string `json:"id"`
	Name string `json:"name,omitempty"`
	Type string `json:"type"`
	Env  string `json:"env,omitempty"`
}

// Change is what a task applies to its target, and what it puts back if it is
// rolled back.
type Change struct {
	Target Target          `json:"target"`
	Before json.RawMessage `json:"before,omitempty"` // missing: the operation reads it before it applies After
	After  json.RawMessage `json:"after,omitempty"`
}

// Task is one member of a batch.
type Task struct {
	ID    int64 // set by the store; also of its first job
	Batch int64
	Change
	State     TaskState
	Job       int64  // its job of the last pass it took part in; it may not have been let out yet
	Info      string // why it failed, or was cancelled
	Retries   int    // how often it was tried again by itself since it was created or retried
	UpdatedAt time.Time
}

// TaskKind is the kind of jobs that do what a type of batch is for with a type of
// target.
func TaskKind(targetType, batchType string) string { return targetType + "." + batchType }
