package batch

// TaskState is the state of a batch's task.
type TaskState string

// The states of a task.
const (
	TaskPending         TaskState = "pending"          // not started yet, or between two attempts
	TaskRunning         TaskState = "running"          // an attempt is running
	TaskSuccess         TaskState = "success"          // applied
	TaskFail            TaskState = "fail"             // failed
	TaskRetryPending    TaskState = "retry_pending"    // a retry was requested
	TaskRollbackPending TaskState = "rollback_pending" // a rollback was requested
	TaskRollbackRunning TaskState = "rollback_running" // being rolled back
	TaskRollbackSuccess TaskState = "rollback_success" // rolled back
	TaskRollbackFail    TaskState = "rollback_fail"    // the rollback failed
	TaskCancel          TaskState = "cancel"           // cancelled
)

// TaskStates returns all task states.
func TaskStates() []TaskState {
	return []TaskState{
		TaskPending, TaskRunning, TaskSuccess, TaskFail, TaskRetryPending,
		TaskRollbackPending, TaskRollbackRunning, TaskRollbackSuccess, TaskRollbackFail, TaskCancel,
	}
}

// State is a batch's state, derived from the states of its tasks.
type State string

// The states of a batch.
const (
	Pending         State = "pending"          // no task has started
	Running         State = "running"          // some tasks have started, and some have not ended
	Success         State = "success"          // all tasks succeeded
	Fail            State = "fail"             // all tasks failed
	PartialFail     State = "partial_fail"     // all tasks have ended; some succeeded and some failed
	RollbackPending State = "rollback_pending" // a rollback was requested and has not started
	RollbackRunning State = "rollback_running" // tasks are being rolled back
	RollbackSuccess State = "rollback_success" // all tasks that were applied are rolled back
	RollbackFail    State = "rollback_fail"    // the rollback of some tasks failed
	Cancel          State = "cancel"           // cancelled
)

// Tally holds the number of tasks in each state.
type Tally struct {
	Pending         int `json:"pending,omitempty"`
	Running         int `json:"running,omitempty"`
	Success         int `json:"success,omitempty"`
	Fail            int `json:"fail,omitempty"`
	RetryPending    int `json:"retry_pending,omitempty"`
	RollbackPending int `json:"rollback_pending,omitempty"`
	RollbackRunning int `json:"rollback_running,omitempty"`
	RollbackSuccess int `json:"rollback_success,omitempty"`
	RollbackFail    int `json:"rollback_fail,omitempty"`
	Cancel          int `json:"cancel,omitempty"`
}

// Of returns a pointer to the number of tasks in the given state, through which callers read
// or change it.
func (t *Tally) Of(state TaskState) *int {
	switch state {
	case TaskPending:
		return &t.Pending
	case TaskRunning:
		return &t.Running
	case TaskSuccess:
		return &t.Success
	case TaskFail:
		return &t.Fail
	case TaskRetryPending:
		return &t.RetryPending
	case TaskRollbackPending:
		return &t.RollbackPending
	case TaskRollbackRunning:
		return &t.RollbackRunning
	case TaskRollbackSuccess:
		return &t.RollbackSuccess
	case TaskRollbackFail:
		return &t.RollbackFail
	case TaskCancel:
		return &t.Cancel
	}
	panic("fairlead: no state of a task: " + string(state))
}

// Open returns the number of tasks that have not ended.
func (t Tally) Open() int {
	return t.Pending + t.Running + t.RetryPending + t.RollbackPending + t.RollbackRunning
}

// Total returns the total number of tasks.
func (t Tally) Total() int {
	return t.Open() + t.Success + t.Fail + t.RollbackSuccess + t.RollbackFail + t.Cancel
}

// Aggregate derives a batch's state from the states of its tasks and whether the batch was
// cancelled. The first matching rule applies.
func Aggregate(t Tally, cancelled bool) State {
	rolledBack := t.RollbackSuccess + t.RollbackFail
	left := t.Total() - t.RollbackSuccess // tasks that were rolled back count no more below
	open := t.Pending + t.RetryPending + t.Running
	switch {
	case t.RollbackRunning > 0 || t.RollbackPending > 0 && rolledBack > 0:
		return RollbackRunning
	case t.RollbackPending > 0:
		return RollbackPending
	case t.RollbackFail > 0:
		return RollbackFail
	case t.RollbackSuccess > 0 && t.Success == 0:
		return RollbackSuccess
	case cancelled:
		return Cancel
	case t.Pending == left:
		return Pending
	case open > 0:
		return Running
	case t.Success == left:
		return Success
	case t.Fail == left:
		return Fail
	}
	return PartialFail
}

// State returns the batch's state, derived from the states of its tasks.
func (b *Batch) State() State { return Aggregate(b.Tally, b.Cancelled) }
