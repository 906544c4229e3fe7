package sqlstore

import (
	"fmt"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/schedule"
)

// Every way to retry a job ends in a store, so what must not be retried is refused here,
// with the same text in all stores.

// PermitReopenOf returns the ErrConflict of reopening a task of a batch: the batch has counted
// its end, and decides itself what is done again. raw is the policy of the job.
func PermitReopenOf(job int64, raw []byte) error {
	if len(raw) == 0 {
		return nil
	}
	policy, err := readPolicy(raw)
	if err != nil {
		return fmt.Errorf("policy of job %d: %w", job, err)
	}
	if policy.Batch == 0 {
		return nil
	}
	return fmt.Errorf("cannot retry job %d: it is a task of batch %d; retry it through the batch: %w", job, policy.Batch, fairlead.ErrConflict)
}

// PermitReopenRun returns the ErrConflict of reopening a run that its schedule, which is locked,
// has no room for. Runs that the same transaction reopens take up room, although active shows
// them as they were before. A schedule that cannot be read keeps no run back: it starts none
// either.
func PermitReopenRun(job int64, name string, body []byte, active []schedule.Fire, reopened ...int64) error {
	for i := range active {
		if slices.Contains(reopened, active[i].Job) {
			active[i].State = fairlead.Ready
		}
	}
	s := schedule.Schedule{Name: name}
	if decodeSchedule(body, &s) != nil {
		return nil
	}
	return s.PermitRetry(job, active)
}
