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

	MaxRunning int           // tasks that are released at once; zero: no bound
	Rate       float64       // tasks that are released per second; zero: no bound
	Timeout    time.Duration // of one attempt; zero: that of the operation
	Canary     Canary
	StopAfter  Threshold

	// Then are jobs that are enqueued when it completes, in the transaction that
	// finds out. If it is opened again and completes again so are they.
	Then []fairlead.Job
	// Notify is an address that gets a message at each completion, at least once.
	Notify string

	CreatedAt time.Time // set by the store
	Status
}

// Canary lets the first tasks of a batch go ahead of the others.
type Canary struct {
	Tasks int     // how many; zero: all tasks are alike
	Ratio float64 // of them that has to succeed for the others to follow without approval; zero: an operator has to approve
}

// Threshold is how many failures pause a batch. Either may be zero: then it does
// not count.
type Threshold struct {
	Failures int
	Percent  float64 // of all tasks
}

// Status is how a batch stands.
type Status struct {
	Total   int   // tasks
	Tally   Tally // of its tasks; as of the last look, but for what is running
	Unclear int   `json:"Doubtful"` // failed and cancelled tasks that may have been applied all the same

	// Doubtful is how many tasks may have run in commits that the database lost, so that
	// what was there before them is not known for certain: see Task.Doubtful.
	Doubtful int `json:"LossDoubtful,omitempty"`

	Cancelled bool   // nothing goes forward any more
	Undoing   bool   // it is rolled back as a whole: nothing goes forward any more
	Paused    bool   // no task begins until it is resumed
	Reason    string // why it is paused or cancelled
	Approved  bool   // the tasks behind the canary follow
	Awaiting  bool   `json:"-"` // the canary has ended, and the others wait for Approve

	Passes      []Pass    // through its tasks, oldest first
	Completions int       // how often it completed
	StartedAt   time.Time // when the first task was released; zero: none was
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
	Number int // grows from pass to pass; attempts to make one that were given up leave gaps
	Kind   PassKind
	Tasks  int
	Serial bool // each task waits for the one before
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
	// Of its batch.
	BatchType string
	Creator   string
	Env       string
	Region    string // the batch's Queue

	Change
	State     TaskState
	Job       int64  // its job of the last pass it took part in; it may not have been released yet
	Info      string // why it failed, or was cancelled
	Retries   int    // how often it was tried again automatically since it was created or retried
	UpdatedAt time.Time

	// Doubtful is set if the task may have run in commits that the database lost, and no
	// caller said what was there before: what its operation read afterwards may be the
	// task's own result, and a rollback puts that back. Look at the target itself.
	Doubtful bool
}

// TaskKind is the kind of jobs that do what a type of batch is for with a type of
// target.
func TaskKind(targetType, batchType string) string { return targetType + "." + batchType }
