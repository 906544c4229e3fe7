package cdc

import (
	"context"
	"encoding/json"
	"time"

	"github.com/fairlead-io/fairlead/batch"
)

// Target types.
const (
	TargetCDC    = "cdc"
	TargetPanama = "panama"
)

// Batch types.
const (
	BatchStart           = "cdc_job_start"
	BatchStop            = "cdc_job_stop"
	BatchSwitchAZ        = "cdc_switch_az"
	BatchResetGTID       = "cdc_reset_gtid"
	BatchChangeConfig    = "cdc_change_config"
	BatchSwitchRunSystem = "cdc_switch_run_system"
	BatchMigrate         = "panama_migrate_to_cdc"
)

// Timeouts of operations.
const (
	defaultTimeout = 20 * time.Second
	moveTimeout    = 30 * time.Second
	resetTimeout   = 480 * time.Second
)

// Task is the input to an operation: one target of a batch.
type Task struct {
	BatchID    int64
	BatchType  string
	Creator    string // creator of the batch
	Status     batch.TaskState
	Env        string
	Region     string
	AZ         string
	TargetID   string
	TargetName string
	TargetType string
	TargetEnv  string
	Undo       bool // whether the task is being undone
}

// An Operation is the action that batches of one type perform on targets of one type.
type Operation struct {
	TargetType string
	BatchType  string
	Timeout    time.Duration
	// BuildParam reads the current state of the target, without changing it.
	BuildParam func(ctx context.Context, task Task, after json.RawMessage) (before json.RawMessage, err error)
	// AlreadyDone reports whether nothing is left to do to reach want, which is `after`, or
	// `before` during an undo. Returning false is always safe.
	AlreadyDone func(ctx context.Context, task Task, want json.RawMessage) (bool, error)
	// Process performs the operation and Undo reverses it. Both must be idempotent.
	Process func(ctx context.Context, task Task, before, after json.RawMessage) error
	Undo    func(ctx context.Context, task Task, before, after json.RawMessage) error
	// Check rejects parameters that can never work, with a *fairlead.InvalidError. It sends no
	// requests to a cluster.
	Check func(task Task, before, after json.RawMessage) error
}

// env returns the environment of the target: its own, or that of its batch.
func (t Task) env() string {
	if t.TargetEnv != "" {
		return t.TargetEnv
	}
	return t.Env
}

// connector returns the name of the target in Kafka Connect.
func (t Task) connector() string {
	if t.TargetName != "" {
		return t.TargetName
	}
	return t.TargetID
}
