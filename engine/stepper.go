package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/verdict"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/sweep"
)

// Stepper runs jobs one at a time in the caller's goroutine, following the same rules as a
// node. It is meant for tests: jobs run only while Step is being called.
type Stepper struct {
	store   driver.Store
	mux     *fairlead.Mux
	options Options
	scope   *driver.Scope
	secrets *secrets
	node    fairlead.NodeID
	next    time.Duration // until there is something to do; negative: nothing is known of
}

// stepperLease outlives any test, however far its clock is moved.
const stepperLease = 100 * 365 * 24 * time.Hour

// NewStepper returns a Stepper that has joined the store as a node. The node never sends
// heartbeats.
func NewStepper(ctx context.Context, store driver.Store, mux *fairlead.Mux) (*Stepper, error) {
	s := &Stepper{store: store, mux: mux, options: Options{}.withDefaults(), scope: &driver.Scope{Kinds: mux.Kinds()}, secrets: newSecrets(store, mux)}
	err := store.AddConfidential(ctx, mux.Confidential())
	if err != nil {
		return nil, err
	}
	s.node, err = store.Join(ctx, fairlead.Node{Name: "stepper", Kinds: mux.Kinds(), Slots: 1}, stepperLease)
	if err != nil {
		return nil, fmt.Errorf("join: %w", err)
	}
	return s, nil
}

// Step starts runs of due schedules, checks batches and sweeps, and promotes due jobs, as a
// node does between two jobs. It then runs the first ready job and returns that job as
// stored afterwards. Step returns nil if no job is ready.
func (s *Stepper) Step(ctx context.Context) (*fairlead.Job, error) {
	if err := s.keep(ctx); err != nil {
		return nil, err
	}
	jobs, err := s.store.Claim(ctx, driver.Claim{Node: s.node, Scope: s.scope, Max: 1})
	if err != nil || len(jobs) == 0 {
		return nil, err
	}
	r := &run{job: jobs[0], entry: s.mux.Entry(jobs[0].Kind), save: s.store.Save, leased: leasedForGood, secrets: s.secrets}
	err = s.call(ctx, r)
	settlement := r.settlement(err, r.why())
	if err := s.settle(ctx, settlement); err != nil {
		return nil, fmt.Errorf("settle job %d: %w", r.job.ID, err)
	}
	return s.store.Get(ctx, r.job.ID)
}

// settle settles one job. It fails if a transaction that its handler left open holds the
// job.
func (s *Stepper) settle(ctx context.Context, settlement fairlead.Settlement) error {
	for pause := settleFirst; ; pause *= 2 {
		settled, err := s.store.Settle(ctx, []fairlead.Settlement{settlement})
		if err != nil || settled[0] != fairlead.SettledHeld {
			return err
		}
		if pause > settleSlowest {
			return fmt.Errorf("%w: an open transaction holds the job; commit it or roll it back before the handler returns", fairlead.ErrUnavailable)
		}
		if err := sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// leasedForGood is until when no test has to care.
func leasedForGood() time.Time { return time.Now().Add(stepperLease) }

// Next returns the delay until the next job or schedule is due, as of the last Step that ran
// no job. The delay is negative if nothing is due.
func (s *Stepper) Next() time.Duration { return s.next }

// keep does what nodes do beside running jobs.
func (s *Stepper) keep(ctx context.Context) error {
	s.next = -1
	for _, do := range []func(context.Context) error{s.fire, s.conduct, s.steer, s.promote} {
		if err := do(ctx); err != nil {
			return err
		}
	}
	return nil
}

// soon notes that there is something to do after a time.
func (s *Stepper) soon(wait time.Duration) {
	if wait > 0 && (s.next < 0 || wait < s.next) {
		s.next = wait
	}
}

// fire makes the runs of schedules that are due.
func (s *Stepper) fire(ctx context.Context) error {
	var broken error
	for {
		ticked, err := s.store.Tick(ctx, fireChunk, func(due schedule.Schedule, v schedule.View) schedule.Plan {
			plan, err := due.Decide(v, graceLeases*s.options.Lease)
			if err != nil {
				broken, plan.Cursor = fmt.Errorf("schedule %q: %w", due.Name, err), schedule.Cursor{}
			}
			return plan
		})
		if err != nil || broken != nil {
			return orError(err, broken)
		}
		if ticked.Schedules == 0 {
			s.soon(ticked.Next)
			return nil
		}
	}
}

func orError(first, second error) error {
	if first != nil {
		return first
	}
	return second
}

// conduct looks at all open batches, until nothing follows at once.
func (s *Stepper) conduct(ctx context.Context) error {
	open, err := s.store.Batches(ctx, batch.Filter{Open: true, Limit: openPage})
	if err != nil {
		return err
	}
	for i := range open {
		if err := s.conductOne(ctx, open[i].ID); err != nil {
			return fmt.Errorf("batch %d: %w", open[i].ID, err)
		}
	}
	return nil
}

func (s *Stepper) conductOne(ctx context.Context, id int64) error {
	for {
		done, err := batch.Conduct(ctx, s.store, id)
		if err != nil {
			return err
		}
		if done.Prepare {
			if err := batch.Prepare(ctx, s.store, id, done.Try); err != nil {
				return err
			}
			continue
		}
		if done.Next != 0 {
			s.soon(done.Next)
			return nil
		}
	}
}

// steer looks at all sweeps that are not at rest.
func (s *Stepper) steer(ctx context.Context) error {
	moving, err := s.store.Sweeps(ctx, sweep.Filter{States: []sweep.State{sweep.Waiting, sweep.Running, sweep.Stopping}, Limit: openPage})
	if err != nil {
		return err
	}
	for i := range moving {
		if err := sweep.Steer(ctx, s.store, moving[i].ID); err != nil {
			return fmt.Errorf("sweep %d: %w", moving[i].ID, err)
		}
	}
	return nil
}

func (s *Stepper) promote(ctx context.Context) error {
	for {
		promotion, err := s.store.Promote(ctx, keepChunk)
		if err != nil {
			return err
		}
		if promotion.Moved < keepChunk {
			s.soon(promotion.Next)
			return nil
		}
	}
}

func (s *Stepper) call(ctx context.Context, r *run) error {
	timeout := verdict.Timeout(r.job, r.entry, s.options.Timeout)
	ctx, cancel := context.WithTimeoutCause(fairlead.ContextWithRun(ctx, r), timeout, verdict.ErrTimeout)
	defer cancel()
	r.begin(timeout, cancel)
	err := call(ctx, r)
	if ctx.Err() == context.DeadlineExceeded {
		r.end(verdict.ErrTimeout)
	}
	return err
}
