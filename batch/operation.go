package batch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/descriptors"
)

// TaskArgs is the input to an operation. It holds the arguments of the job that performs a
// batch's task.
type TaskArgs struct {
	Batch   int64           `json:"batch_id"`   // ID of the batch
	Task    int64           `json:"task_id"`    // ID of the task
	Type    string          `json:"batch_type"` // type of the batch
	Creator string          `json:"creator,omitempty"`
	Env     string          `json:"env,omitempty"`
	Region  string          `json:"region,omitempty"` // the batch's Queue
	AZ      string          `json:"az,omitempty"`
	Service string          `json:"service,omitempty"`
	Info    json.RawMessage `json:"extra_info,omitempty"`
	Undo    bool            `json:"undo,omitempty"` // the task belongs to an undo pass, which restores Before
	Status  TaskState       `json:"status"`         // state from which it started: TaskPending, TaskRetryPending or TaskRollbackPending
	Change

	// Unremembered reports, in an undo pass, that the task failed before it stored a memo. If
	// the operation has BuildParam, the task was never applied.
	Unremembered bool `json:"unremembered,omitempty"`
}

// taskMemo is what is remembered of a task between its attempts.
type taskMemo struct {
	Before json.RawMessage `json:"before,omitempty"`
	Fence  int64           `json:"fence,omitempty"` // of the run that read it
}

// taskAttempts is how often a task that times out is tried.
const taskAttempts = 3

// args are what an operation gets to know of a task that takes part in a kind of pass.
func (b *Batch) args(task int64, change Change, kind PassKind) TaskArgs {
	return TaskArgs{
		Batch: b.ID, Task: task, Type: b.Type, Creator: b.Creator, Env: b.Env, Region: b.Queue, AZ: b.AZ, Service: b.Service, Info: b.Info,
		Undo: kind == PassUndo, Status: taskState(kind, MarkOut, false), Change: change,
	}
}

// job makes the job of a task.
func (r *Record) job(p *Chunk, i int) *fairlead.Job {
	args := r.args(p.TaskID(i), p.Tasks[i].Change, p.Kind)
	args.Unremembered = args.Undo && p.Tasks[i].Unremembered
	raw, err := json.Marshal(args)
	if err != nil {
		panic(err) // Normalize and the store refuse what is no JSON
	}
	job := &fairlead.Job{
		ID: p.First + int64(i), Kind: r.kindOf(args.Target.Type), Args: raw, Queue: r.Queue, Tenant: r.Tenant, Priority: r.Priority,
		Timeout: r.Timeout, MaxAttempts: taskAttempts,
	}
	job.Batch = r.ID
	return job
}

// AnyType is the BatchType of an operation that performs, for one type of target, all batch
// types without an operation of their own. A batch cannot have this type.
const AnyType = "*"

// Operation defines how to perform the tasks of one batch type, or of AnyType, on one type
// of target. Only Process is required.
//
// A task's operation is chosen when the batch is created: the operation for the batch's own
// type if a live node has it, and otherwise the operation for AnyType.
type Operation struct {
	TargetType string                   // type of target
	BatchType  string                   // type of batch, or AnyType
	Timeout    time.Duration            // timeout of one attempt; default DefaultTaskTimeout
	Timeouts   map[string]time.Duration // for AnyType: timeouts of individual types of batches, which override Timeout

	// Check refuses tasks that can never succeed, when a client that knows the operation
	// creates a batch (see Client.Knowing). It returns an *InvalidError that names the
	// invalid fields.
	Check func(task TaskArgs) error
	// BuildParam returns the current value of the target, which a rollback restores if the
	// batch does not specify a value. The value is stored before Process is called; a task
	// that failed before that has nothing to roll back.
	BuildParam func(ctx context.Context, task TaskArgs) (json.RawMessage, error)
	// AlreadyDone reports whether the target already has the desired value: After, or
	// Before if Undo is set. The target is then left unchanged.
	AlreadyDone func(ctx context.Context, task TaskArgs) (bool, error)
	// Process changes the target to After. It must be idempotent: an earlier attempt may
	// already have changed the target.
	Process func(ctx context.Context, task TaskArgs) error
	// Undo restores Before on the target. If it is nil, Process is called with Before in
	// place of After.
	Undo func(ctx context.Context, task TaskArgs) error
}

// DefaultTaskTimeout limits each attempt of a task if neither the batch nor the operation
// sets a timeout.
const DefaultTaskTimeout = 20 * time.Second

// taskRetry is the pause before a task that timed out is tried again, also if its
// batch was paused or cancelled meanwhile: it has begun.
var taskRetry = fairlead.Retry{Base: 3 * time.Second, Max: 3 * time.Second, Factor: 1}

// Handle registers op with mux. A task is retried twice if it times out or if it returns a
// timeout error from a call that it made. Any other error is final until a user or program
// retries the task. An error does not count as a failure if it wraps ErrUnavailable or
// reports that this process has run out of file descriptors. In that case the task runs
// again.
func Handle(mux *fairlead.Mux, op Operation) {
	if op.Process == nil {
		panic(fmt.Sprintf("fairlead: the operation %s needs Process", TaskKind(op.TargetType, op.BatchType)))
	}
	if op.Timeout == 0 {
		op.Timeout = DefaultTaskTimeout
	}
	mux.Attach(TaskKind(op.TargetType, op.BatchType), op)
	options := fairlead.HandlerOptions{Timeout: op.Timeout, MaxAttempts: taskAttempts, Retry: &taskRetry}
	if len(op.Timeouts) > 0 {
		options.TimeoutOf = op.timeoutOf
	}
	kind := fairlead.NewKind[TaskArgs](TaskKind(op.TargetType, op.BatchType))
	kind.HandleWith(mux, options, func(ctx context.Context, job *fairlead.Job, task TaskArgs) error {
		return op.final(ctx, op.work(ctx, job, task))
	})
}

// timeoutOf is how long an attempt of a task may take whose type of batch has a timeout of
// its own; zero: as long as the batch or the operation says.
func (op *Operation) timeoutOf(job *fairlead.Job) time.Duration {
	var task TaskArgs
	if job.Timeout > 0 || json.Unmarshal(job.Args, &task) != nil {
		return 0
	}
	return op.Timeouts[task.Type]
}

// work does or undoes a task.
func (op *Operation) work(ctx context.Context, job *fairlead.Job, task TaskArgs) error {
	if op.untouched(&task) {
		return nil // there is nothing to put back
	}
	if err := op.complete(ctx, job, &task); err != nil {
		return err
	}
	if op.AlreadyDone != nil {
		done, err := op.AlreadyDone(ctx, task)
		if err != nil || done {
			return err
		}
	}
	switch {
	case !task.Undo:
		return op.Process(ctx, task)
	case op.Undo != nil:
		return op.Undo(ctx, task)
	}
	task.Before, task.After = task.After, task.Before
	return op.Process(ctx, task)
}

// untouched reports whether a task of an undo pass was never applied: it failed before the
// result of BuildParam was stored, and nothing is changed before that.
func (op *Operation) untouched(task *TaskArgs) bool {
	return task.Undo && task.Before == nil && task.Unremembered && op.BuildParam != nil
}

// complete finds out what was there before, unless that is known. It is remembered
// before the target is changed: an attempt after a crash would find what this one
// left behind.
func (op *Operation) complete(ctx context.Context, job *fairlead.Job, task *TaskArgs) error {
	if task.Before != nil {
		return nil
	}
	if task.Undo {
		return errors.New("cannot undo the task: neither the batch nor the operation provided the previous value")
	}
	if op.BuildParam == nil {
		return nil
	}
	var memo taskMemo
	if len(job.Memo) > 0 {
		if err := json.Unmarshal(job.Memo, &memo); err != nil {
			return fmt.Errorf("memo of job %d: %w", job.ID, err)
		}
	}
	if memo.Before == nil {
		before, err := op.BuildParam(ctx, *task)
		if err != nil {
			return err
		}
		memo.Before, memo.Fence = before, job.Fence
		if err := fairlead.Remember(ctx, memo); err != nil {
			return err
		}
	}
	task.Before = memo.Before
	return nil
}

// final makes an ordinary error final. What the operation chose itself, and what is
// no fault of the task, stays as it is. So does a call of the operation that timed out: it
// counts as a timeout of the task.
func (op *Operation) final(ctx context.Context, err error) error {
	var chosen *fairlead.Outcome
	blameless := errors.Is(err, fairlead.ErrLeaseLost) || errors.Is(err, fairlead.ErrUnavailable) || descriptors.Exhausted(err)
	if err == nil || ctx.Err() != nil || errors.As(err, &chosen) || blameless || timedOut(err) {
		return err
	}
	return fairlead.Fatal(err)
}

// timedOut reports whether an error is a timeout, as those of contexts and of package net are.
func timedOut(err error) bool {
	var late interface{ Timeout() bool }
	return errors.As(err, &late) && late.Timeout()
}
