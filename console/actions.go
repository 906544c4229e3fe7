package console

import "slices"

// actions are all that can be done. Each list stands beside what it is about.
var actions = slices.Concat(
	jobActions, bulkActions, scheduleActions, scheduleEdits, calendarActions, batchActions, sweepActions,
	pauseActions, nodeActions, limitActions, tenantActions, tokenActions,
)
