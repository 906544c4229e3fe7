package interleave

import (
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/sweep"
)

// itemKind is the kind of the items of sweeps.
const itemKind = "item"

// sweepSubjects returns sweeps over a thousand items in each state. Their job is that of a shard.
func sweepSubjects() []Subject {
	on, run := []Trait{hasSweep}, []Trait{hasJob, hasRun, hasSweep}
	running := func(s *scene) error { return s.run(s.swept, s.startSweep, s.steer, s.steer, s.leasedTask) }
	return []Subject{
		{"a new sweep", on, func(s *scene) error { return s.swept() }},
		{"a starting sweep", on, func(s *scene) error { return s.run(s.swept, s.startSweep) }},
		{"a sweep with a running shard", run, running},
		{"a sweep that is stopping", run, func(s *scene) error {
			return s.run(func() error { return running(s) }, s.stopSweep)
		}},
		{"a stopped sweep", on, func(s *scene) error {
			return s.run(func() error { return running(s) }, s.stopSweep,
				func() error { return s.settled(fairlead.Settlement{Move: fairlead.Succeed}) }, s.steer, s.steer)
		}},
		{"a sweep whose shard has ended", append(run, hasEnded), func(s *scene) error {
			return s.run(func() error { return running(s) }, func() error {
				_, err := s.store.Checkpoint(s.ctx, sweep.Checkpoint{Sweep: s.sweep, Job: s.job.ID, Fence: s.job.Fence, Mark: sweepItems, Done: sweepItems, Ended: true})
				return err
			}, func() error { return s.settled(fairlead.Settlement{Move: fairlead.Succeed}) })
		}},
	}
}

const sweepItems = 1000

// swept stores a sweep.
func (s *scene) swept() error {
	stored, err := sweep.NewClient(s.store).Put(s.ctx, sweep.Sweep{Name: "catalog", Kind: itemKind, To: sweepItems, InFlight: 4, Rate: 100})
	s.sweep = stored.ID
	s.label("the sweep", stored.ID)
	return err
}

func (s *scene) startSweep() error {
	_, err := sweep.NewClient(s.store).Start(s.ctx, s.sweep, "ann")
	return err
}

func (s *scene) stopSweep() error {
	_, err := sweep.NewClient(s.store).Stop(s.ctx, s.sweep, "ann", "enough")
	return err
}

// steer does what nodes do with sweeps that are not at rest.
func (s *scene) steer() error { return sweep.Steer(s.ctx, s.store, s.sweep) }

// sweepActors returns the operations on sweeps.
func sweepActors() []Actor {
	on, run := []Trait{hasSweep}, []Trait{hasSweep, hasRun}
	act := func(do func(c *cue, sweeps *sweep.Client) error) func(c *cue) string {
		return func(c *cue) string { return verdict(do(c, sweep.NewClient(c.store))) }
	}
	checkpoint := func(change func(*sweep.Checkpoint)) func(c *cue) string {
		return func(c *cue) string {
			p := sweep.Checkpoint{Sweep: c.sweep, Job: c.job.ID, Fence: c.job.Fence, Mark: 10, Done: 10}
			change(&p)
			run := c.tenure()
			orders, err := c.store.Checkpoint(c.ctx, p)
			if orders.Stop {
				return run.ends(answered(err, "stop"))
			}
			return run.ends(verdict(err))
		}
	}
	return []Actor{
		{Name: "steer the sweep", On: on, Repeats: true, Steps: true, Do: func(c *cue) string { return notGone(sweep.Steer(c.ctx, c.store, c.sweep)) }},
		{Name: "start the sweep", On: on, Waits: true, Do: act(func(c *cue, s *sweep.Client) error {
			_, err := s.Start(c.ctx, c.sweep, "ann")
			return err
		})},
		{Name: "stop the sweep", On: on, Waits: true, Steps: true, Do: act(func(c *cue, s *sweep.Client) error {
			_, err := s.Stop(c.ctx, c.sweep, "ann", "enough")
			return err
		})},
		{Name: "retry items", On: on, Waits: true, Do: act(func(c *cue, s *sweep.Client) error {
			_, err := s.Retry(c.ctx, c.sweep, "ann", 3)
			return err
		})},
		{Name: "slow the sweep down", On: on, Waits: true, Do: func(c *cue) string { return c.putSweep(func(s *sweep.Sweep) { s.Rate = 10 }) }},
		{Name: "split the sweep again", On: on, Waits: true, Do: func(c *cue) string { return c.putSweep(func(s *sweep.Sweep) { s.Shards = 3 }) }},
		{Name: "delete the sweep", On: on, Waits: true, Do: act(func(c *cue, s *sweep.Client) error { return s.Delete(c.ctx, c.sweep) })},
		{Name: "checkpoint", On: run, Waits: true, Do: checkpoint(func(*sweep.Checkpoint) {})},
		{Name: "checkpoint with a failed item", On: run, Waits: true, Do: checkpoint(func(p *sweep.Checkpoint) {
			p.Done, p.Abandoned = 9, 1
			p.Failed = []sweep.FailedItem{{Sweep: p.Sweep, Index: 3, At: time.Unix(0, 0), Attempts: 5, Error: "no luck"}}
		})},
		{Name: "last checkpoint", On: run, Waits: true, Do: checkpoint(func(p *sweep.Checkpoint) { p.Mark, p.Done, p.Ended = sweepItems, sweepItems, true })},
	}
}

// putSweep changes the sweep as the actors have seen it.
func (c *cue) putSweep(change func(*sweep.Sweep)) string {
	s := c.walked
	change(&s)
	_, err := c.store.PutSweep(c.ctx, s)
	return verdict(err)
}
