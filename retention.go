package fairlead

import (
	"math"
	"time"
)

// Retention sets how long finished jobs are kept, for each final state.
type Retention struct {
	Succeeded time.Duration
	Failed    time.Duration
	Cancelled time.Duration
	Skipped   time.Duration
}

// Forever is the retention of jobs that are kept until a user or program deletes them.
const Forever time.Duration = math.MaxInt64
