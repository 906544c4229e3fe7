// Package patience defines how long tests wait.
package patience

import "time"

// Limit is how long a test waits for one expected event. It is long enough for any machine,
// however slow or busy: a test that reaches it hangs.
const Limit = 5 * time.Minute
