package fairlead

import (
	"math"
	"time"
)

// Retention sets how long finished jobs are kept in each final state.
type Retention struct {
	Succeeded time.Duration // for succeeded jobs
	Failed    time.Duration // for failed jobs
	Cancelled time.Duration // for cancelled jobs
	Skipped   time.Duration // for skipped runs of schedules
}

// Forever is the retention of jobs that are kept until a user or program deletes them.
const Forever time.Duration = math.MaxInt64
