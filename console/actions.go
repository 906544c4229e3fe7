package console

import "slices"

// actions lists all actions. The parts are declared next to the code of their objects.
var actions = slices.Concat(
	jobActions, bulkActions, scheduleActions, scheduleEdits, calendarActions, batchActions, sweepActions,
	pauseActions, nodeActions, limitActions, tenantActions, tokenActions,
)
