package demo

import (
	"context"
	"errors"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/sweep"
)

// settle ends all live sweeps, batches and jobs. It waits for jobs that other nodes are
// running.
func (c *clearing) settle(ctx context.Context) error {
	const pause, tellEvery = 100 * time.Millisecond, 50
	for round := 0; ; round++ {
		live, err := c.settleOnce(ctx)
		if err != nil || live == 0 {
			return err
		}
		if round%tellEvery == 0 {
			c.reportf("cancelling %d live jobs, batches and sweeps", live)
		}
		if err := work(ctx, pause); err != nil {
			return err
		}
	}
}

// settleOnce requests that all live objects end, and returns their number.
func (c *clearing) settleOnce(ctx context.Context) (live int, err error) {
	sweeps, err := c.stopSweeps(ctx)
	if err != nil {
		return 0, err
	}
	batches, err := c.cancelBatches(ctx)
	if err != nil {
		return 0, err
	}
	jobs, err := c.cancelJobs(ctx)
	return sweeps + batches + jobs, err
}

func (c *clearing) stopSweeps(ctx context.Context) (live int, err error) {
	states := []sweep.State{sweep.Waiting, sweep.Running, sweep.Stopping}
	found, err := c.sweeps.List(ctx, sweep.Filter{Tenants: c.own, States: states})
	for i := range found {
		if err := errors.Join(stopSweep(ctx, c.sweeps, found[i].ID), gone(sweep.Steer(ctx, c.store, found[i].ID))); err != nil {
			return 0, err
		}
	}
	return len(found), err
}

func stopSweep(ctx context.Context, client *sweep.Client, id int64) error {
	_, err := client.Stop(ctx, id, "demo clear", "the demo is being removed")
	return gone(err)
}

// cancelBatches cancels batches and performs the work of nodes on them: it counts ended
// tasks. A batch that is being rolled back cannot be cancelled: cancelBatches removes the
// limits on its pace, so that its tasks become jobs at once, which are cancelled.
func (c *clearing) cancelBatches(ctx context.Context) (live int, err error) {
	found, err := c.batches.List(ctx, batch.Filter{Tenants: c.own, Open: true})
	for i := range found {
		id := found[i].ID
		_, err := c.batches.Cancel(ctx, id, "the demo is being removed")
		if errors.Is(err, fairlead.ErrConflict) {
			err = c.hurry(ctx, &found[i])
		}
		if err = errors.Join(gone(err), c.conduct(ctx, id)); err != nil {
			return 0, err
		}
	}
	return len(found), err
}

func (c *clearing) hurry(ctx context.Context, b *batch.Batch) error {
	if b.Paused {
		if _, err := c.batches.Resume(ctx, b.ID); err != nil {
			return err
		}
	}
	unbound, noRate := 0, 0.0
	_, err := c.batches.SetPace(ctx, b.ID, batch.Pace{MaxRunning: &unbound, Rate: &noRate})
	return err
}

// conduct checks a batch like a node.
func (c *clearing) conduct(ctx context.Context, id int64) error {
	done, err := batch.Conduct(ctx, c.store, id)
	if err == nil && done.Prepare {
		err = batch.Prepare(ctx, c.store, id, done.Try)
	}
	return gone(err)
}

// maxCrashes is the default of a node.
const maxCrashes = 20

// cancelJobs cancels jobs. Jobs held by dead nodes must be taken back first; like any node,
// it takes back the jobs of all dead nodes.
func (c *clearing) cancelJobs(ctx context.Context) (live int, err error) {
	leased := false
	filter := fairlead.Filter{Tenants: c.own, States: liveStates(), Limit: page}
	err = eachJob(ctx, c.store, filter, func(job *fairlead.Job) error {
		live++
		leased = leased || job.State == fairlead.Running
		return gone(c.jobs.Cancel(ctx, job.ID, "the demo is being removed"))
	})
	if err == nil && leased {
		_, err = c.store.Reap(ctx, driver.Reap{MaxCrashes: maxCrashes, Limit: page, Patience: time.Minute})
	}
	return live, err
}
