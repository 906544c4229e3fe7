package sim

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/schedule"
)

// Callers configures transactions that stay open while the jobs of a scenario run: a
// handler completes its job in a transaction and hangs, and so does a run that its schedule
// is to cancel, and a process enqueues jobs with keys that the runs of a schedule also use.
// Later the transactions are committed, rolled back or killed. Other work must not wait for
// them.
type Callers struct {
	Hold      time.Duration // maximum duration of a transaction; zero = no callers
	Jobs      int           // number of jobs that complete themselves in a transaction
	Processes int           // number of processes that enqueue jobs in transactions
}

// hold is the kind of jobs that complete themselves in a transaction that stays open. brief
// is the kind of jobs that callers enqueue in a transaction.
var (
	hold  = fairlead.NewKind[holding]("sim.hold")
	brief = fairlead.NewKind[struct{}]("sim.brief")
)

// holding contains the maximum duration of a transaction.
type holding struct {
	Longest time.Duration
}

// heldKeys is the number of keys that callers use. The runs of a schedule have the first
// one.
const heldKeys = 3

func heldKey(i int) string { return fmt.Sprintf("held %d", i) }

// lends reports whether the scenario has callers.
func (s *Scenario) lends() bool { return s.Callers.Hold > 0 }

// scheduleHeld stores the schedules whose runs wait for open transactions: one with runs
// that have a key that callers use, and one that cancels runs that are completed in a
// transaction.
func (c *Cluster) scheduleHeld(ctx context.Context) error {
	if !c.lends() {
		return nil
	}
	keyed := *brief.Job(struct{}{})
	keyed.Key = heldKey(0)
	for _, s := range []schedule.Schedule{
		{Name: "held by a key", Job: keyed},
		{Name: "held by its last run", Job: *hold.Job(holding{c.Callers.Hold}), Overlap: schedule.OverlapCancel},
	} {
		s.Every, s.StartsAt, s.EndsAt = time.Second, c.span.From.Time(), c.span.To.Time()
		if _, err := c.schedules.Put(ctx, s); err != nil {
			return fmt.Errorf("put the schedule %q: %w", s.Name, err)
		}
	}
	return nil
}

// beginCallers enqueues the jobs that hang, each due at a random time of the span, and
// starts the processes.
func (c *Cluster) beginCallers(ctx context.Context) error {
	if !c.lends() {
		return nil
	}
	jobs := make([]*fairlead.Job, c.Callers.Jobs)
	for i := range jobs {
		jobs[i] = hold.Job(holding{c.Callers.Hold})
		jobs[i].NotBefore = c.span.From.Add(time.Duration(c.random.Int64N(int64(c.span.To.Sub(c.span.From))))).Time()
	}
	if err := c.client.Enqueue(ctx, jobs...); err != nil {
		return fmt.Errorf("enqueue jobs that hang: %w", err)
	}
	for range c.Callers.Processes {
		if err := c.launchCaller(); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) launchCaller() error {
	c.lives++
	o := c.orders(fmt.Sprintf("c%d", c.lives))
	o.Caller, o.Hold = true, c.Callers.Hold
	p, err := startProcess("", o)
	if err == nil {
		c.callers = append(c.callers, p)
	}
	return err
}

// lookAtCallers reports whether all jobs of callers have ended. After the span it kills the
// callers with their open transactions.
func (c *Cluster) lookAtCallers(ctx context.Context) (over bool, err error) {
	if !c.lends() {
		return true, nil
	}
	now, err := c.store.Now(ctx)
	if err != nil || InstantOf(now) < c.span.To {
		return false, err
	}
	err = killAll(c.callers)
	c.callers = nil
	tally, tallyErr := c.store.Tally(ctx, fairlead.Filter{Kinds: []string{hold.Name(), brief.Name()}})
	if err := errors.Join(err, tallyErr); err != nil {
		return false, err
	}
	for state, n := range tally {
		if !state.Final() && n > 0 {
			return false, nil
		}
	}
	return true, nil
}

// KillNodeOrCaller kills a random node or caller process, and starts another in its place.
func KillNodeOrCaller(ctx context.Context, c *Cluster) error {
	if n := c.random.IntN(len(c.workers) + len(c.callers)); n < len(c.workers) {
		if c.progress.ended == c.spared {
			return nil // otherwise no worker on a slow machine would live long enough to finish a job
		}
		c.spared = c.progress.ended
		return c.kill(ctx, c.workers[n])
	}
	victim := c.callers[c.random.IntN(len(c.callers))]
	if err := victim.kill(); err != nil {
		return err
	}
	c.callers = without(c.callers, victim)
	c.recorder.Note(Event{What: Killed, Process: victim.name})
	return c.launchCaller()
}

// advanceBeats is the number of heartbeats within which unblocked work must advance.
const advanceBeats = 5

// othersAdvance checks that open transactions of callers did not delay unrelated jobs: none
// took longer, from its due time to its end, than five acknowledged heartbeats of one node.
// All times are those of the database's clock. It skips jobs on nodes that died, which the
// rule of recovery covers.
func (c *check) othersAdvance() {
	if c.Hold == 0 {
		return
	}
	for _, final := range c.Final {
		due, known := c.Due[final.Job]
		s := c.stories[final.Job]
		if _, planned := c.Expected[final.Job]; !planned || !known || s == nil || len(s.claims) != 1 || len(s.holdings) > 0 || final.Attempt != 1 {
			continue
		}
		beats := c.leases.mostBeats(due, final.Finished, 0)
		c.figures.SlowestBeats = max(c.figures.SlowestBeats, beats)
		if beats > advanceBeats {
			c.violated(WorkStalled, final.Job, "it was due at %d and ended %v later, after %d acknowledged heartbeats of one node", due, final.Finished.Sub(due), beats)
		}
	}
}

// callersKept checks that a job enqueued in a transaction exists if the commit was
// acknowledged, and does not exist if the caller rolled back.
func (c *check) callersKept() {
	stored := map[int64]bool{}
	for _, final := range c.Final {
		stored[final.Job] = true
	}
	for _, e := range c.Events {
		switch {
		case e.What == Committed && !stored[e.Job]:
			c.violated(CommitForgotten, e.Job, "a caller committed it, and the database does not have it")
		case e.What == RolledBack && stored[e.Job]:
			c.violated(RollbackForgotten, e.Job, "a caller rolled it back, and the database has it")
		}
	}
}
