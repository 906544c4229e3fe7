package fairlead

import (
	"math"
	"time"
)

// Retention is how long finished jobs are kept, per outcome.
type Retention struct {
	Succeeded time.Duration
	Failed    time.Duration
	Cancelled time.Duration
	Skipped   time.Duration
}

// Forever is the retention of jobs that are kept until a caller deletes them.
const Forever time.Duration = math.MaxInt64
