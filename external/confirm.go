package external

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
)

const (
	// confirmPause is how long a notice waits for the end of the run that it tells of:
	// a timeout is noted before it is stored.
	confirmPause = time.Second
	// confirmPatience is how long it waits in all. A run that has timed out ends within
	// the grace that handlers have, or with the lease of its node.
	confirmPatience = 15 * time.Minute
)

// confirmed returns a notice as the store knows its event: only that is sent in our
// name. It fails for good unless the store has the job, of that tenant, and a run of
// it that ended so, and snoozes while that run has not ended.
func (c *Courier) confirmed(ctx context.Context, bringer *fairlead.Job, n notice, subject *fairlead.Job) (notice, error) {
	stored, err := c.client.Get(ctx, subject.ID)
	if errors.Is(err, fairlead.ErrNotFound) {
		return n, fairlead.Fatal(fmt.Errorf("nothing is told of a job that is gone: %w", err))
	}
	if err != nil {
		return n, err
	}
	if stored.Tenant != n.Tenant {
		return n, forged(n)
	}
	if stored.State == fairlead.Failed && stored.Fence == subject.Fence {
		if n.Event == eventTimeout && !isTimeout(stored.Reason) {
			return n, forged(n)
		}
		known := about(n.Event, stored)
		known.Args = stored.Args
		return known, nil
	}
	attempts, err := c.store.Attempts(ctx, stored.ID)
	if err != nil {
		return n, err
	}
	for _, attempt := range attempts {
		if attempt.Fence == subject.Fence {
			return confirmedBy(attempt, n, stored)
		}
	}
	live := !stored.State.Final() && stored.Fence == subject.Fence
	if live && time.Since(bringer.CreatedAt) < confirmPatience {
		return n, fairlead.SnoozeFor(confirmPause)
	}
	return n, forged(n)
}

// confirmedBy returns the notice of a run that another one followed.
func confirmedBy(attempt fairlead.Attempt, n notice, stored *fairlead.Job) (notice, error) {
	crashed := attempt.Reason == fairlead.ReasonCrash // the node died before it could store the timeout
	if n.Event == eventTimeout && !isTimeout(attempt.Reason) && !crashed {
		return n, forged(n)
	}
	run := *stored
	run.Attempt, run.Fence, run.FinishedAt = attempt.Run, attempt.Fence, attempt.FinishedAt
	run.Reason, run.Error = attempt.Reason, attempt.Error
	if n.Event == eventTimeout && crashed {
		run.Reason, run.Error = fairlead.ReasonTimeout, overdueText
	}
	known := about(n.Event, &run)
	known.Args = stored.Args
	return known, nil
}

func isTimeout(reason fairlead.Reason) bool {
	return reason == fairlead.ReasonTimeout || reason == fairlead.ReasonDeadline
}

func forged(n notice) error {
	return fairlead.Fatal(fmt.Errorf("the store knows no event %q of job %s of tenant %q in its run %s; nothing is told", n.Event, n.ID, n.Tenant, n.Fence))
}
