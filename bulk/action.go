package bulk

import (
	"slices"

	"github.com/fairlead-io/fairlead"
)

// Action is what is done to each job.
type Action string

// The actions.
const (
	Cancel     Action = "cancel"     // ends jobs, or asks running ones to stop
	Retry      Action = "retry"      // makes failed and cancelled jobs ready again
	Run        Action = "run"        // makes scheduled jobs ready at once
	Delete     Action = "delete"     // removes jobs that do not run
	Prioritize Action = "prioritize" // changes the priority of jobs that have not ended
	Move       Action = "move"       // puts jobs that have not started into another queue
)

// Actions lists all actions.
func Actions() []Action { return []Action{Cancel, Retry, Run, Delete, Prioritize, Move} }

// States are those in which an action can be done to a job.
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

// Narrow leaves, of the states that a filter names, those in which the action can be done; a
// filter that names none means all of them. It reports false if none is left.
func (a Action) Narrow(filter *fairlead.Filter) bool {
	allowed := a.States()
	if len(filter.States) == 0 {
		filter.States = allowed
		return true
	}
	filter.States = slices.DeleteFunc(slices.Clone(filter.States), func(state fairlead.State) bool { return !slices.Contains(allowed, state) })
	return len(filter.States) > 0
}

// Method is the method of the API that does it to one job, as the audit log names it.
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
