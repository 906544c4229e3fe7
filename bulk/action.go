package bulk

import (
	"slices"

	"github.com/fairlead-io/fairlead"
)

// An Action is the operation that a bulk applies to each job.
type Action string

// Actions of bulks.
const (
	Cancel     Action = "cancel"     // ends jobs, or requests that running jobs stop
	Retry      Action = "retry"      // makes failed and cancelled jobs ready again
	Run        Action = "run"        // makes scheduled jobs ready immediately
	Delete     Action = "delete"     // removes jobs that are not running
	Prioritize Action = "prioritize" // changes the priority of jobs that have not ended
	Move       Action = "move"       // moves jobs that have not started to another queue
)

// Actions returns all actions.
func Actions() []Action { return []Action{Cancel, Retry, Run, Delete, Prioritize, Move} }

// States returns the job states to which the action applies.
func (a Action) States() []fairlead.State {
	pending := []fairlead.State{fairlead.Scheduled, fairlead.Parked, fairlead.Ready}
	switch a {
	case Cancel, Prioritize:
		return append(pending, fairlead.Running, fairlead.Waiting)
	case Retry:
		return []fairlead.State{fairlead.Failed, fairlead.Cancelled}
	case Run:
		return []fairlead.State{fairlead.Scheduled}
	case Delete:
		return append(pending, fairlead.Succeeded, fairlead.Failed, fairlead.Cancelled, fairlead.Skipped)
	case Move:
		return pending
	}
	return nil
}

// Narrow removes from filter.States the states to which the action does not apply. A filter
// without states includes all states. Narrow returns false if no state is left.
func (a Action) Narrow(filter *fairlead.Filter) bool {
	allowed := a.States()
	if len(filter.States) == 0 {
		filter.States = allowed
		return true
	}
	filter.States = slices.DeleteFunc(slices.Clone(filter.States), func(state fairlead.State) bool { return !slices.Contains(allowed, state) })
	return len(filter.States) > 0
}

// Method returns the name under which the audit log records the action: the API method that
// performs the action on a single job.
func (a Action) Method() string {
	switch a {
	case Cancel:
		return "CancelJob"
	case Retry:
		return "RetryJob"
	case Run:
		return "RunJob"
	case Delete:
		return "DeleteJob"
	case Prioritize:
		return "SetJobPriority"
	case Move:
		return "MoveJob"
	}
	return ""
}
