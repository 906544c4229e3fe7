package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/verdict"
)

// Stepper runs jobs one at a time in the caller's goroutine, with the same
// rules as a node. It is for tests: nothing happens but what is asked for.
type Stepper struct {
	store   driver.Store
	mux     *fairlead.Mux
	options Options
	scope   *driver.Scope
	node    fairlead.NodeID
}

// stepperLease outlives any test, however far its clock is moved.
const stepperLease = 100 * 365 * 24 * time.Hour

// NewStepper joins the store as a node that never beats.
func NewStepper(ctx context.Context, store driver.Store, mux *fairlead.Mux) (*Stepper, error) {
	s := &Stepper{store: store, mux: mux, options: Options{}.withDefaults(), scope: &driver.Scope{Kinds: mux.Kinds()}}
	var err error
	s.node, err = store.Join(ctx, fairlead.Node{Name: "stepper", Kinds: mux.Kinds(), Slots: 1}, stepperLease)
	if err != nil {
		return nil, fmt.Errorf("join: %w", err)
	}
	return s, nil
}

// Step promotes what is due, runs the first ready job, and returns it as the
// store has it afterwards; nil if none is ready.
func (s *Stepper) Step(ctx context.Context) (*fairlead.Job, error) {
	if err := s.promote(ctx); err != nil {
		return nil, err
	}
	jobs, err := s.store.Claim(ctx, driver.Claim{Node: s.node, Scope: s.scope, Max: 1})
	if err != nil || len(jobs) == 0 {
		return nil, err
	}
	r := &run{job: jobs[0], entry: s.mux.Entry(jobs[0].Kind), save: s.store.Save}
	err = s.call(ctx, r)
	settlement := r.settlement(err, r.why())
	if _, err := s.store.Settle(ctx, []fairlead.Settlement{settlement}); err != nil {
		return nil, fmt.Errorf("settle job %d: %w", r.job.ID, err)
	}
	return s.store.Get(ctx, r.job.ID)
}

func (s *Stepper) promote(ctx context.Context) error {
	for {
		promotion, err := s.store.Promote(ctx, keepChunk)
		if err != nil || promotion.Moved < keepChunk {
			return err
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
