package schedule

import (
	"fmt"

	"github.com/fairlead-io/fairlead"
)

// PermitRetry reports whether a run may be retried. It returns an ErrConflict if as many
// other runs are active as MaxConcurrency allows. A new run would then be queued or skipped,
// but this is not possible for a retried run. The argument active lists the schedule's runs
// that have not ended.
func (s *Schedule) PermitRetry(job int64, active []Fire) error {
	if s.MaxConcurrency == 0 || s.Concurrency == ConcurrencyParallel {
		return nil
	}
	running := 0
	for i := range active {
		if f := &active[i]; f.Active() && !f.Queued && f.Job != job {
			running++
		}
	}
	if running < s.MaxConcurrency {
		return nil
	}
	return fmt.Errorf("cannot retry job %d: %d of %d runs of schedule %q are active; retry it when one of them has ended: %w",
		job, running, s.MaxConcurrency, s.Name, fairlead.ErrConflict)
}
