package external

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
)

const (
	// confirmPause is the delay of a notice until the run that it reports has ended: a timeout
	// is noticed before it is stored.
	confirmPause = time.Second
	// confirmPatience limits the total delay. A run that has timed out ends within the grace
	// period of handlers, or with the lease of its node.
	confirmPatience = 15 * time.Minute
)

// confirmed returns a notice based on the stored event: only such a notice is sent in the
// service's name. It fails for good unless the store has the job with that tenant and with
// the run that the notice reports. It snoozes while that run has not ended.
//
// The end of a run does not prove a timeout, because a handler may return any error after
// its deadline. So for a timeout only the run is confirmed, and for a failure also its end.
func (c *Courier) confirmed(ctx context.Context, bringer *fairlead.Job, n notice, subject *fairlead.Job) (notice, error) {
	stored, err := c.client.Get(ctx, subject.ID)
	if errors.Is(err, fairlead.ErrNotFound) {
		return n, fairlead.Fatal(fmt.Errorf("no notice sent: the job was deleted: %w", err))
	}
	if err != nil {
		return n, err
	}
	if stored.Tenant != n.Tenant {
		return n, forged(n)
	}
	if stored.Fence == subject.Fence && !stored.State.Final() {
		return c.confirmedLive(ctx, bringer, n, stored)
	}
	if stored.Fence == subject.Fence && (stored.State == fairlead.Failed || n.Event == eventTimeout) {
		return known(n.Event, stored, *stored), nil
	}
	attempts, err := c.store.Attempts(ctx, stored.ID)
	if err != nil {
		return n, err
	}
	run := *stored
	run.Fence, run.Attempt, run.FinishedAt = subject.Fence, n.Attempt, time.Time{}
	for _, attempt := range attempts {
		if attempt.Fence == subject.Fence {
			run.Attempt, run.FinishedAt, run.Reason, run.Error = attempt.Run, attempt.FinishedAt, attempt.Reason, attempt.Error
			return known(n.Event, stored, run), nil
		}
	}
	// A run that ended with a snooze leaves only its number.
	if n.Event == eventTimeout && n.Attempt >= 1 && n.Attempt <= stored.Attempt {
		return known(n.Event, stored, run), nil
	}
	return n, forged(n)
}

// confirmedLive waits for the end of a run, by the database's clock. The notice of a
// timeout is sent even if the run has not ended by then.
func (c *Courier) confirmedLive(ctx context.Context, bringer *fairlead.Job, n notice, stored *fairlead.Job) (notice, error) {
	now, err := c.store.Now(ctx)
	switch {
	case err != nil:
		return n, err
	case now.Sub(bringer.CreatedAt) < confirmPatience:
		return n, fairlead.SnoozeFor(confirmPause)
	case n.Event == eventTimeout:
		return known(n.Event, stored, *stored), nil
	}
	return n, forged(n)
}

// known returns the notice of an event of a run, with the stored details of its job.
func known(event string, stored *fairlead.Job, run fairlead.Job) notice {
	if event == eventTimeout && run.Reason != fairlead.ReasonTimeout && run.Reason != fairlead.ReasonDeadline {
		run.Reason, run.Error = fairlead.ReasonTimeout, overdueText
	}
	n := about(event, &run)
	n.Args = stored.Args
	return n
}

func forged(n notice) error {
	return fairlead.Fatal(fmt.Errorf("no notice sent: the store has no event %q for job %s of tenant %q in run %s", n.Event, n.ID, n.Tenant, n.Fence))
}
