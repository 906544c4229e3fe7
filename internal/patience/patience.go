// Package patience says how long tests wait.
package patience

import "time"

// Limit is how long a test waits for one thing that must come. It is so long that no
// machine is too slow or too busy: a test that reaches it hangs.
const Limit = 5 * time.Minute
