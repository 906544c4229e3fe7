package sim

import (
	"context"
	"errors"
	"fmt"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/sweep"
)

// Swept configures a sweep that runs next to the jobs of a scenario.
type Swept struct {
	Items    int64 // zero = no sweep
	Shards   int
	InFlight int
	Rate     float64
}

// beginOthers starts the work next to the jobs.
func (c *Cluster) beginOthers(ctx context.Context) error {
	if err := errors.Join(c.makeBatches(ctx), c.beginCallers(ctx)); err != nil {
		return err
	}
	if c.Sweep.Items == 0 {
		return nil
	}
	c.sweeping = &sweepDriver{
		SweepScenario: SweepScenario{Dir: c.Dir, Items: c.Sweep.Items, Shards: c.Sweep.Shards, InFlight: c.Sweep.InFlight, Rate: c.Sweep.Rate},
		store:         c.store, client: sweep.NewClient(c.store), marks: map[int]int64{},
	}
	return c.sweeping.begin(ctx)
}

// lookAtOthers reports whether the work next to the jobs has ended, and whether it has made
// progress since the last check.
func (c *Cluster) lookAtOthers(ctx context.Context) (over, progressed bool, err error) {
	idle, err := c.lookAtCallers(ctx)
	if err != nil {
		return false, false, err
	}
	progressed, err = c.lookAtBatches(ctx)
	idle = idle && c.batching.ended
	if err != nil || c.sweeping == nil {
		return idle, progressed, err
	}
	before := c.sweeping.reached
	swept, err := c.sweeping.look(ctx)
	return swept && idle, progressed || c.sweeping.reached != before, errors.Join(err, c.sweeping.unseen)
}

// alone reports whether the scenario has only enqueued jobs.
func (c *Cluster) alone() bool { return c.Batches.Count == 0 && c.Sweep.Items == 0 && !c.lends() }

// own returns a filter for the jobs that have a plan.
func (c *Cluster) own() fairlead.Filter {
	if c.alone() {
		return fairlead.Filter{}
	}
	return fairlead.Filter{Kinds: []string{work.Name()}}
}

// recordOthers reads the results of the work next to the jobs.
func (c *Cluster) recordOthers(ctx context.Context, r *Record) error {
	if err := c.recordBatches(ctx, r); err != nil || c.sweeping == nil {
		return err
	}
	if err := c.sweeping.finish(ctx); err != nil {
		return fmt.Errorf("read what the sweep did: %w", err)
	}
	r.Swept = &c.sweeping.record
	return nil
}
