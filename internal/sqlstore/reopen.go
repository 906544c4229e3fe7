package sqlstore

import (
	"fmt"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/schedule"
)

// Every way to retry a job ends in a store, so forbidden retries are rejected here, with
// the same message in all stores.

// PermitReopenOf returns ErrConflict if the job is a task of a batch. The batch has already
// counted the end of the job, and decides itself which tasks to repeat. raw is the job's
// encoded policy.
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

// PermitReopenRun returns ErrConflict if the run's schedule, which must be locked, has no room
// for the run. Runs that the same transaction has reopened take up room, even though active
// contains their earlier states. If the schedule cannot be decoded, the run is permitted,
// because the schedule cannot start any other runs.
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
