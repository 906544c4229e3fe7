package cdc

import (
	"context"
	"encoding/json"
	"time"

	"github.com/fairlead-io/fairlead/batch"
)

// The types of targets.
const (
	TargetCDC    = "cdc"
	TargetPanama = "panama"
)

// The types of batches.
const (
	BatchStart           = "cdc_job_start"
	BatchStop            = "cdc_job_stop"
	BatchSwitchAZ        = "cdc_switch_az"
	BatchResetGTID       = "cdc_reset_gtid"
	BatchChangeConfig    = "cdc_change_config"
	BatchSwitchRunSystem = "cdc_switch_run_system"
	BatchMigrate         = "panama_migrate_to_cdc"
)

// How long the operations may take.
const (
	defaultTimeout = 20 * time.Second
	moveTimeout    = 30 * time.Second
	resetTimeout   = 480 * time.Second
)

// Task is one target of a batch as an operation sees it.
type Task struct {
	BatchID    int64
	BatchType  string
	Creator    string // of the batch
	Status     batch.TaskState
	Env        string
	Region     string
	AZ         string
	TargetID   string
	TargetName string
	TargetType string
	TargetEnv  string
	Undo       bool // it is being undone
}

// Operation is what is done to the targets of one type in batches of one type.
type Operation struct {
	TargetType string
	BatchType  string
	Timeout    time.Duration
	// BuildParam reads the present state of the target. It changes nothing.
	BuildParam func(ctx context.Context, task Task, after json.RawMessage) (before json.RawMessage, err error)
	// AlreadyDone reports whether nothing is left to do. What is wanted is `after`, or `before`
	// when the task is being undone. False is always a safe answer.
	AlreadyDone func(ctx context.Context, task Task, want json.RawMessage) (bool, error)
	// Process does it, Undo takes it back. Both may be repeated.
	Process func(ctx context.Context, task Task, before, after json.RawMessage) error
	Undo    func(ctx context.Context, task Task, before, after json.RawMessage) error
	// Check refuses parameters that can never work, with a *fairlead.InvalidError. It asks no cluster.
	Check func(task Task, before, after json.RawMessage) error
}

// env is where the target lives: its own environment, or that of its batch.
func (t Task) env() string {
	if t.TargetEnv != "" {
		return t.TargetEnv
	}
	return t.Env
}

// connector is the name of the target in Kafka Connect.
func (t Task) connector() string {
	if t.TargetName != "" {
		return t.TargetName
	}
	return t.TargetID
}
