package fairlead

import "time"

// An Op names the change that an Operation makes to a job. If the documentation of an Op calls a state a
// conflict, Store.Operate returns ErrConflict for a job in that state and changes nothing.
type Op string

// The operations.
const (
	// OpCancel ends a scheduled, ready, parked or waiting job as cancelled. A running job is
	// asked to stop: its node learns of the request with the next beat, and unless its
	// handler succeeds, the job then ends as cancelled instead of being retried, released
	// or awaited. If there are several requests, the first one counts. A finished job is a
	// conflict.
	OpCancel Op = "cancel"
	// OpReopen makes a failed or cancelled job ready or parked again. It resets the job's
	// failures and crashes, and keeps its memo, its order and its run numbers. The job
	// takes its key again; if another job holds the key, that is a conflict. So is a task
	// of a batch. So is a run of a schedule that already has as many active runs as its
	// MaxConcurrency allows, unless its Concurrency allows parallel runs. Any other state
	// is a conflict.
	OpReopen Op = "reopen"
	// OpReschedule sets the due time of a scheduled, parked or ready job. A time that has
	// passed makes the job ready, or parked if it has no place at its gate. If the job's
	// StartBy was the due time, it moves along. Any other state is a conflict.
	OpReschedule Op = "reschedule"
	// OpRunNow makes a scheduled job ready immediately, or parked if it has no place at its
	// gate; a ready or parked job stays as it is. A StartBy that was the due time becomes
	// now if it is in the future. Any other state is a conflict.
	OpRunNow Op = "run"
	// OpSetPriority changes the priority of a job: immediately while it waits for a slot,
	// and from its next attempt on while it runs. A finished job is a conflict.
	OpSetPriority Op = "prioritize"
	// OpSetQueue moves a scheduled, parked or ready job to another queue. The job keeps its
	// order, its due time, its key and its place at its gate, and nodes that serve the
	// queue are woken. A job that is already in the queue stays as it is. Any other state
	// is a conflict.
	OpSetQueue Op = "move"
	// OpDelete removes a job with its entire history. A running or waiting job is a
	// conflict. So is a task whose end its batch has not counted yet, and a job of a shard
	// that has not ended while its sweep runs. If the job is a run whose end its schedule
	// has not counted yet, the schedule counts how it ended, or counts it as cancelled if
	// it never began.
	OpDelete Op = "delete"
)

// An Operation is a change to one job, whatever its state.
type Operation struct {
	Op        Op
	Reason    string    // of OpCancel, for people
	NotBefore time.Time // of OpReschedule; zero means now
	Priority  int       // of OpSetPriority
	Queue     string    // of OpSetQueue

	// Seen is the job as the caller has read it. If it is set, the operation is a conflict
	// unless the job still has the same State and Fence. The comparison and the operation
	// happen in one transaction.
	Seen *Job
}
