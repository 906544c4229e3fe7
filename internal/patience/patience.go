// Package patience defines how long tests wait.
package patience

import "time"

// Limit is the longest time that a test waits for one expected event. It is long enough for
// any machine, however slow or busy, so a test that reaches it is hanging.
const Limit = 5 * time.Minute
