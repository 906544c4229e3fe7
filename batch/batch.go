package batch

import (
	"encoding/json"
	"time"

	"github.com/fairlead-io/fairlead"
)

// Batch applies one operation to many targets. Each task is a job that changes one target,
// and stores both the new value and the previous one. A batch has one name and one state,
// and can be cancelled, retried or rolled back as a whole.
type Batch struct {
	ID          int64  // set by the store
	Name        string // name for people; need not be unique
	Type        string // type of operation; determines the kind of the tasks, together with the type of their targets
	Description string // description for users

	Creator string          // user or program that created it, for filters and display
	Env     string          // environment of the targets, for filters and display
	AZ      string          // availability zone, passed to the operation
	Service string          // name of a service, passed to the operation
	Info    json.RawMessage // additional data, passed to the operation

	Queue    string // queue that decides which nodes run its tasks; DefaultQueue if empty
	Tenant   string // DefaultTenant if empty
	Priority int    // tasks of batches with a higher priority start first

	MaxRunning int           // maximum number of tasks released at once; zero = unlimited
	Rate       float64       // tasks released per second; zero = unlimited
	Timeout    time.Duration // timeout of one attempt; default the operation's
	Canary     Canary        // tasks to release before all others; default none
	StopAfter  Threshold     // failures that pause the batch; default none

	// Then lists jobs that are enqueued when the batch completes, in the transaction that
	// detects the completion. If the batch is reopened and completes again, they are
	// enqueued again.
	Then []fairlead.Job
	// Notify is a URL that receives a message for each completion, at least once.
	Notify string

	CreatedAt time.Time // set by the store
	Status
}

// Canary configures the tasks that a batch releases before all others.
type Canary struct {
	Tasks int     // number of tasks in the canary; zero means no canary
	Ratio float64 // fraction of them that must succeed to release the others without approval; zero means that an operator must approve
}

// Threshold is the number or percentage of failed tasks at which a batch pauses. A zero
// field is ignored.
type Threshold struct {
	Failures int     // number of failed tasks
	Percent  float64 // failed tasks as a percentage of all tasks
}

// Status describes a batch's progress.
type Status struct {
	Total   int   // number of tasks
	Tally   Tally // tasks by state; as of the last check, except for running tasks
	Unclear int   `json:"Doubtful"` // failed and cancelled tasks that may nevertheless have been applied

	// Doubtful is the number of tasks that may have run in commits that the database lost,
	// so the values before them are uncertain. See Task.Doubtful.
	Doubtful int `json:"LossDoubtful,omitempty"`

	Cancelled bool   // no further forward tasks start
	Undoing   bool   // the batch is being rolled back as a whole; no further forward tasks start
	Paused    bool   // no task starts until the batch is resumed
	Reason    string // reason for pausing or cancelling it
	Approved  bool   // the tasks after the canary may start
	Awaiting  bool   `json:"-"` // the canary has ended, and the other tasks wait for Approve

	Passes      []Pass    // passes over its tasks, oldest first
	Completions int       // number of times that it has completed
	StartedAt   time.Time // time at which the first task was released; zero if none was
	EndedAt     time.Time // time of its completion; zero if it has not completed or was reopened
}

// PassKind is the kind of a pass: forward, retry or undo.
type PassKind string

// The kinds of passes.
const (
	PassForward PassKind = "forward" // applies tasks for the first time
	PassRetry   PassKind = "retry"   // repeats failed tasks
	PassUndo    PassKind = "undo"    // undoes tasks, as RollBack requests
	// PassThen is not a pass over tasks. It holds the job IDs reserved for the jobs of a
	// completion.
	PassThen PassKind = "then"
)

// Pass is one pass over a batch's tasks. The first pass runs all tasks forward. Later passes
// retry tasks or roll them back.
type Pass struct {
	Number int      // grows from pass to pass; abandoned attempts to prepare a pass leave gaps
	Kind   PassKind // purpose of the pass
	Tasks  int      // number of its tasks
	Serial bool     // each task waits for the previous one
}

// Target identifies the object that a task changes.
type Target struct {
	ID   string `json:"id"`             // identifies the target among those of its type
	Name string `json:"name,omitempty"` // display name
	Type string `json:"type"`           // type of the target, such as "host"
	Env  string `json:"env,omitempty"`  // environment of the target
}

// Change holds the value that a task applies to its target and the value that a rollback
// restores.
type Change struct {
	Target Target          `json:"target"`           // object to change
	Before json.RawMessage `json:"before,omitempty"` // value before the task; if missing, the operation reads it before it applies After
	After  json.RawMessage `json:"after,omitempty"`  // value to apply
}

// Task is a change to one target within a batch.
type Task struct {
	ID    int64 // set by the store; also the ID of its first job
	Batch int64 // ID of the batch
	// Copied from the batch.
	BatchType string
	Creator   string
	Env       string
	Region    string // the batch's Queue

	Change
	State     TaskState // current state
	Job       int64     // its job in its last pass, which may not have been released yet
	Info      string    // reason for failure or cancellation
	Retries   int       // number of automatic retries since it was created or retried by request
	UpdatedAt time.Time // time of the last change of its state

	// Doubtful is set if the task may have run in commits that the database lost, and no
	// caller specified the value before it. The value that its operation read afterwards
	// may be the task's own result, and a rollback restores that value. Inspect the target
	// itself.
	Doubtful bool
}

// TaskKind returns the kind of the jobs that apply batches of type batchType to targets of
// type targetType.
func TaskKind(targetType, batchType string) string { return targetType + "." + batchType }
