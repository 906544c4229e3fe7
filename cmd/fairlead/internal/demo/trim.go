package demo

import (
	"context"
	"errors"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
)

// kept is the retention of the demo's jobs and batches, which keeps the database small. The
// node's retention is not suitable, because it applies to all tenants.
const kept = time.Hour

// page is the number of jobs read at once.
const page = 500

// trim deletes old jobs and batches.
func (d *Demo) trim(ctx context.Context) error {
	now, err := d.store.Now(ctx)
	if err != nil {
		return err
	}
	filter := fairlead.Filter{Tenants: Tenants(), States: finalStates(), To: now.Add(-kept), Limit: page}
	err = eachJob(ctx, d.store, filter, func(job *fairlead.Job) error {
		if now.Sub(job.FinishedAt) < kept {
			return nil
		}
		return gone(d.jobs.Delete(ctx, job.ID))
	})
	return errors.Join(err, d.trimBatches(ctx, now))
}

// trimBatches deletes all old batches except the last one, which determines the next.
func (d *Demo) trimBatches(ctx context.Context, now time.Time) error {
	found, err := d.batches.List(ctx, batch.Filter{Names: []string{batchName}, Tenants: []string{acme}})
	if err != nil {
		return err
	}
	for i := 1; i < len(found); i++ {
		if b := &found[i]; !b.EndedAt.IsZero() && now.Sub(b.EndedAt) >= kept {
			if err := gone(d.batches.Delete(ctx, b.ID)); err != nil {
				return err
			}
		}
	}
	return nil
}

// gone returns nil for errors of objects that another caller has deleted or uses again,
// because these are not failures of a deletion.
func gone(err error) error {
	if errors.Is(err, fairlead.ErrNotFound) || errors.Is(err, fairlead.ErrConflict) {
		return nil
	}
	return err
}

// eachJob calls do with every matching job, newest first.
func eachJob(ctx context.Context, store fairlead.Reader, filter fairlead.Filter, do func(*fairlead.Job) error) error {
	for {
		found, err := store.FindPage(ctx, filter)
		if err != nil {
			return err
		}
		for _, job := range found.Jobs {
			if err := do(job); err != nil {
				return err
			}
		}
		if filter.Below = found.Next; filter.Below == 0 {
			return nil
		}
	}
}

func finalStates() (states []fairlead.State) {
	for _, state := range fairlead.States() {
		if state.Final() {
			states = append(states, state)
		}
	}
	return states
}

func liveStates() (states []fairlead.State) {
	for _, state := range fairlead.States() {
		if !state.Final() {
			states = append(states, state)
		}
	}
	return states
}
