package console

import "slices"

// actions are all that can be done. Each list stands beside what it is about.
var actions = slices.Concat(jobActions, pauseActions, nodeActions, limitActions, tenantActions, tokenActions)
