package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"
)

// KillOrPause does one of two things to a random worker: it kills the worker and starts
// another, or it suspends the worker for one and a half leases. Of every two disturbances,
// one is a kill and one is a pause. It does nothing until more jobs have ended since the
// last time: otherwise no worker on a slow machine would live long enough to finish a job.
func KillOrPause(ctx context.Context, c *Cluster) error {
	const parts = 200
	awake := slices.DeleteFunc(slices.Clone(c.workers), c.paused)
	all := int64(c.Jobs + c.Schedules.Count*c.Schedules.Seconds)
	if len(awake) == 0 || c.progress.ended-c.spared < max(1, all/parts) {
		return nil
	}
	c.spared = c.progress.ended
	victim := awake[c.random.IntN(len(awake))]
	c.second = !c.second
	if c.second {
		c.killed = c.random.IntN(2) == 0
	} else {
		c.killed = !c.killed
	}
	if c.killed {
		return c.kill(ctx, victim)
	}
	return c.pause(ctx, victim, c.Node.Lease*3/2)
}

// AtTheSecond delays a disturbance until up to a tenth of a second after the next full
// second of the database's clock at which schedules are due, when nodes are acting on them.
func AtTheSecond(disturb Disturbance) Disturbance {
	return func(ctx context.Context, c *Cluster) error {
		now, err := c.store.Now(ctx)
		if err != nil {
			return c.later(ctx, err)
		}
		late := time.Duration(c.random.Int64N(int64(100 * time.Millisecond)))
		due := max(InstantOf(now.Truncate(time.Second).Add(time.Second)), c.span.From)
		if err := rest(ctx, due.Add(late).Sub(InstantOf(now))); err != nil {
			return err
		}
		return disturb(ctx, c)
	}
}

// PauseAll suspends all workers once for the given time.
func PauseAll(d time.Duration) Disturbance {
	over := false
	return func(ctx context.Context, c *Cluster) error {
		if over {
			return nil
		}
		over = true
		var errs []error
		for _, p := range c.workers {
			errs = append(errs, c.pause(ctx, p, d))
		}
		return errors.Join(errs...)
	}
}

// KillTwo kills two workers, one per call while jobs run, without replacement.
func KillTwo(ctx context.Context, c *Cluster) error {
	if c.lives-len(c.workers) >= 2 || c.gathering() || !c.busy() {
		return nil
	}
	victim := c.workers[c.random.IntN(len(c.workers))]
	if err := victim.kill(); err != nil {
		return err
	}
	return c.bury(ctx, victim)
}

// Replace starts a new worker for each worker that has died on its own.
func Replace(ctx context.Context, c *Cluster) error {
	for _, p := range slices.Clone(c.workers) {
		if p.exited() {
			if err := c.replace(ctx, p); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *Cluster) kill(ctx context.Context, victim *process) error {
	if err := victim.kill(); err != nil {
		return err
	}
	return c.replace(ctx, victim)
}

// replace starts a worker in place of a dead one.
func (c *Cluster) replace(ctx context.Context, dead *process) error {
	return errors.Join(c.bury(ctx, dead), c.launch())
}

// bury records the leases that a dead worker leaves behind.
func (c *Cluster) bury(ctx context.Context, dead *process) error {
	c.recorder.Note(Event{What: Killed, Process: dead.name})
	c.workers = without(c.workers, dead)
	return c.noteHoldings(ctx, dead, Killed)
}

// without returns all processes except one.
func without(all []*process, one *process) []*process {
	return slices.DeleteFunc(slices.Clone(all), func(p *process) bool { return p == one })
}

func (c *Cluster) pause(ctx context.Context, victim *process, d time.Duration) error {
	if err := victim.stop(); err != nil {
		return err
	}
	c.pauses = append(c.pauses, pause{worker: victim, until: time.Now().Add(d)})
	c.recorder.Note(Event{What: Stopped, Process: victim.name})
	return c.noteHoldings(ctx, victim, Stopped)
}

func (c *Cluster) paused(p *process) bool {
	return slices.ContainsFunc(c.pauses, func(x pause) bool { return x.worker == p })
}

// resumeDue resumes workers that have been suspended for long enough.
func (c *Cluster) resumeDue(now time.Time) error {
	var errs []error
	c.pauses = slices.DeleteFunc(c.pauses, func(x pause) bool {
		due := !now.Before(x.until)
		if due {
			c.recorder.Note(Event{What: Resumed, Process: x.worker.name})
			errs = append(errs, x.worker.resume())
		}
		return due
	})
	return errors.Join(errs...)
}

// later postpones a disturbance for which the database was too busy.
func (c *Cluster) later(ctx context.Context, err error) error {
	c.unseen = err
	return ctx.Err()
}

// noteHoldings records the leases of the nodes of a process. If the database is too busy,
// it tries again; if that fails too, fewer rules can be checked.
func (c *Cluster) noteHoldings(ctx context.Context, p *process, why What) error {
	const tries = 3
	var held []Event
	var err error
	for range tries {
		if held, err = c.holdings(ctx, p, why); err == nil {
			break
		}
	}
	if err != nil {
		return c.later(ctx, fmt.Errorf("look at what %s holds: %w", p.name, err))
	}
	for _, e := range held {
		c.recorder.Note(e)
	}
	c.Logf("%s %s, holding %d jobs", p.name, why, len(held))
	return nil
}

// holdings returns the leases of the nodes of a process.
func (c *Cluster) holdings(ctx context.Context, p *process, why What) ([]Event, error) {
	now, err := c.store.Now(ctx)
	if err != nil {
		return nil, err
	}
	nodes, err := c.store.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	var all []Event
	for _, node := range nodes {
		if node.Name != p.name {
			continue
		}
		held, err := c.store.Held(ctx, node.ID)
		if err != nil {
			return nil, err
		}
		for _, h := range held {
			all = append(all, Event{What: Holding, Process: p.name, Node: node.ID, Job: h.ID, Fence: h.Fence, DB: InstantOf(now), Result: string(why)})
		}
	}
	return all, nil
}

// shutDown requests that all workers end, and waits for them. It returns an error if one
// failed.
func (c *Cluster) shutDown() error {
	err := c.resumeDue(time.Now().Add(time.Hour))
	for _, p := range c.workers {
		err = errors.Join(err, p.signal(syscall.SIGTERM))
	}
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for begin := time.Now(); ; <-ticker.C {
		left := slices.DeleteFunc(slices.Clone(c.workers), func(p *process) bool { return p.exited() })
		if len(left) == 0 {
			break
		}
		if time.Since(begin) > GiveUp {
			for _, p := range left {
				err = errors.Join(err, fmt.Errorf("worker %s did not finish within %v; its log ends with:\n%s", p.name, GiveUp, p.tail()), p.kill())
			}
			return err
		}
	}
	for _, p := range c.workers {
		if p.code != 0 && !p.unbegun {
			err = errors.Join(err, fmt.Errorf("worker %s ended with code %d; its log ends with:\n%s", p.name, p.code, p.tail()))
		}
	}
	return err
}

// A Server is a database server that can crash.
type Server interface {
	Kill() error
	Restart(ctx context.Context) error
}

// Outage crashes the database server once, while jobs run, and restarts it after the given
// time.
func Outage(server Server, d time.Duration) Disturbance {
	over := false
	return func(ctx context.Context, c *Cluster) error {
		if over || !c.busy() {
			return nil
		}
		over = true
		if err := server.Kill(); err != nil {
			return err
		}
		c.recorder.Note(Event{What: Down})
		c.Logf("the database is down")
		if err := rest(ctx, d); err != nil {
			return err
		}
		if err := server.Restart(ctx); err != nil {
			return err
		}
		c.recorder.Note(Event{What: Up})
		c.Logf("the database is back")
		return nil
	}
}
