package console

import (
	"time"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// startActions contains the actions that start a sweep. Items that failed before the last
// of them no longer count against the budget.
var startActions = map[string]bool{"start": true, "retry": true}

// lastStart returns the time of a sweep's last start, as far as its history, newest first,
// contains it.
func lastStart(events []*fairleadv1.SweepEvent) time.Time {
	for _, event := range events {
		if startActions[event.GetAction()] {
			return event.GetAt().AsTime()
		}
	}
	return time.Time{}
}

// budgetLeft returns the number of items in the budget that may still fail. It is known for
// the first run, and for later runs if all failed items were read.
func budgetLeft(s *fairleadv1.Sweep, items []*fairleadv1.FailedItem, all bool, started time.Time) (left int64, known bool) {
	allowed := s.GetErrorBudget().GetItems()
	switch {
	case allowed == 0:
		return 0, false
	case s.GetRun() <= 1:
		return max(0, allowed-s.GetProgress().GetAbandoned()), true
	case !all || started.IsZero():
		return 0, false
	}
	taken := int64(0)
	for _, item := range items {
		if !item.GetAgain() && !item.GetAt().AsTime().Before(started) {
			taken++
		}
	}
	return max(0, allowed-taken), true
}
