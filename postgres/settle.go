package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/envelope"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/internal/verdict"
)

// Settle moves running jobs to the states that their handlers decided on.
func (s *Store) Settle(ctx context.Context, settlements []fairlead.Settlement) ([]fairlead.Settled, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	settled, err := s.settleAll(ctx, settlements)
	if err != nil {
		return nil, fmt.Errorf("settle: %w", err)
	}
	return settled, nil
}

func (s *Store) settleAll(ctx context.Context, settlements []fairlead.Settlement) ([]fairlead.Settled, error) {
	if err := verdict.CheckMoves(settlements); err != nil {
		return nil, err
	}
	all := newSettling(s, settlements)
	var replacing []int
	for i := range settlements {
		if verdict.Replaces(&settlements[i]) {
			replacing = append(replacing, i)
		} else {
			all.open = append(all.open, i)
		}
	}
	err := s.settleOpen(ctx, all)
	if badInput(err) {
		// One of them carries what cannot be stored. It must not harm the others.
		err = s.settleEach(ctx, all)
	}
	for _, i := range replacing {
		err = errors.Join(err, s.settleReplacing(ctx, all, i))
	}
	if all.later {
		s.notifier.later()
	}
	if all.freed {
		s.notifier.freed()
	}
	s.notifier.work(all.ready...)
	s.admit(ctx, all.gates)
	if err == nil {
		s.commits.Ended(settlements, all.settled)
	}
	return all.settled, err
}

// settleEach settles one by one.
func (s *Store) settleEach(ctx context.Context, all *settling) error {
	var failed error
	for i := range all.asked {
		if verdict.Replaces(&all.asked[i]) {
			continue
		}
		one := newSettling(s, all.asked[i:i+1])
		one.open = []int{0}
		if err := s.settleOpen(ctx, one); err != nil {
			failed = errors.Join(failed, fmt.Errorf("job %d: %w", all.asked[i].ID, err))
		}
		all.adopt(i, one)
	}
	return failed
}

// settleReplacing ends a job and enqueues another in one transaction.
func (s *Store) settleReplacing(ctx context.Context, all *settling, i int) error {
	// Before the transaction: it must not wait for a second connection.
	return s.renewing(ctx, func(ctx context.Context) error {
		successor, err := s.successor(ctx, all.asked[i].Replace)
		if err != nil {
			return err
		}
		return s.inTx(ctx, func(ctx context.Context, r runner) error {
			held, err := all.passOver(ctx, r, []int{i})
			if err != nil {
				return err
			}
			if len(held) > 0 {
				all.settled[i] = fairlead.SettledHeld
				return nil
			}
			return all.settleReplacing(ctx, r, i, successor)
		})
	})
}

// successor numbers a job that takes another's place, unless it is invalid.
func (s *Store) successor(ctx context.Context, job *fairlead.Job) (*newJobs, error) {
	fresh := &newJobs{jobs: []*fairlead.Job{job}}
	if fresh.invalid = envelope.NormalizeJobs(fresh.jobs); fresh.invalid == nil {
		return s.number(ctx, fresh.jobs)
	}
	return fresh, nil
}

// settling is settlements on their way.
type settling struct {
	*Store
	callers bool // in a caller's transaction, with effects of its own
	asked   []fairlead.Settlement
	settled []fairlead.Settled   // in step with asked
	open    []int                // positions of those not settled yet
	moved   map[driver.Held]bool // whether a wish cancelled it
	ready   []int32              // lanes where jobs became ready
	later   bool                 // jobs were scheduled
	freed   bool                 // jobs gave back slots of limits
	gates   []int64              // where jobs gave back their places, or were parked
}

func newSettling(s *Store, asked []fairlead.Settlement) *settling {
	return &settling{Store: s, asked: asked, settled: make([]fairlead.Settled, len(asked)), moved: map[driver.Held]bool{}}
}

// adopt takes over what became of the settlement at a position.
func (t *settling) adopt(i int, one *settling) {
	t.settled[i] = one.settled[0]
	t.tell(one)
}

// tell takes over whom others have to be told of.
func (t *settling) tell(other *settling) {
	t.ready, t.later, t.freed = append(t.ready, other.ready...), t.later || other.later, t.freed || other.freed
	t.gates = append(t.gates, other.gates...)
}

// settle moves all that is open.
func (t *settling) settle(ctx context.Context, r runner) error {
	if len(t.open) == 0 {
		return nil
	}
	if err := t.move(ctx, r); err != nil {
		return err
	}
	if err := t.answerEarly(ctx, r); err != nil {
		return err
	}
	return t.retrace(ctx, r)
}

// move makes the moves of all open settlements and keeps open those whose
// fence was not found running.
func (t *settling) move(ctx context.Context, r runner) error {
	var plain, finish, release, await []int
	for _, i := range t.open {
		a := &t.asked[i]
		switch next := verdict.Apply(a); next.State {
		case fairlead.Ready:
			release = append(release, i)
		case fairlead.Waiting:
			await = append(await, i)
		default:
			// In a caller's transaction each has to be told whether it was made.
			if verdict.Plain(a) && !t.callers {
				plain = append(plain, i)
			} else {
				finish = append(finish, i)
			}
		}
	}
	plain, few := t.byClaim(plain)
	finish = append(finish, few...)
	count := 0
	calls := t.succeedCalls(plain, &count)
	for _, group := range []struct {
		positions []int
		call      func([]int) call
	}{{finish, t.finishCall}, {release, t.releaseCall}, {await, t.awaitCall}} {
		if len(group.positions) > 0 {
			calls = append(calls, group.call(group.positions))
		}
	}
	if gated := t.withKeys(); len(gated) > 0 {
		calls = append(calls, t.leaveCall(ended, &t.gates, gated...))
	}
	ready := len(t.ready)
	calls[0].restart = func() {
		clear(t.moved)
		count, t.ready = 0, t.ready[:ready]
	}
	if err := r.run(ctx, calls...); err != nil {
		return err
	}
	missed := t.open[:0]
	if count < len(plain) {
		missed = append(missed, plain...)
	}
	for _, i := range slices.Concat(finish, release, await) {
		lease := t.lease(i)
		cancelled, moved := t.moved[lease]
		switch {
		case !moved:
			missed = append(missed, i)
		case cancelled:
			t.settled[i] = fairlead.SettledCancelled
		}
		delete(t.moved, lease) // a second settlement of the same lease is another one
	}
	t.open = missed
	return nil
}

// answerEarly settles those that wanted to wait by the answers that came
// before.
func (t *settling) answerEarly(ctx context.Context, r runner) error {
	waits := map[driver.Held]int{}
	for _, i := range t.open {
		if verdict.Waits(&t.asked[i]) {
			waits[t.lease(i)] = i
		}
	}
	if len(waits) == 0 {
		return nil
	}
	ids, _ := t.names(t.open)
	early := newSettling(t.Store, nil)
	early.callers = t.callers
	var positions []int
	err := r.run(ctx, call{sql: t.sql.EarlyAnswers, args: []any{ids}, each: func(row sqlstore.Scanner) error {
		var lease driver.Held
		var raw []byte
		if err := row.Scan(&lease.ID, &lease.Fence, &raw); err != nil {
			return err
		}
		i, waits := waits[lease]
		if !waits {
			return nil
		}
		answer, err := decodeAnswer(raw)
		if err != nil {
			return err
		}
		asked := verdict.Early(&t.asked[i], answer)
		early.open, positions = append(early.open, len(early.asked)), append(positions, i)
		early.asked = append(early.asked, *asked)
		return nil
	}})
	if err != nil || len(early.asked) == 0 {
		return err
	}
	early.settled = make([]fairlead.Settled, len(early.asked))
	if err := early.settle(ctx, r); err != nil {
		return err
	}
	for n, i := range positions {
		t.settled[i] = early.settled[n]
		t.open = slices.DeleteFunc(t.open, func(open int) bool { return open == i })
	}
	t.tell(early)
	return nil
}

// retrace tells settlements that were made before, and whose answer was lost,
// from those whose lease was lost.
func (t *settling) retrace(ctx context.Context, r runner) error {
	var ends map[driver.Held]fairlead.State
	if len(t.open) > 0 && !t.callers {
		var err error
		if ends, err = t.endsBefore(ctx, r); err != nil {
			return err
		}
	}
	for _, i := range t.open {
		t.settled[i] = verdict.Missed(&t.asked[i], ends[t.lease(i)], t.callers)
	}
	t.open = nil
	return nil
}

// endsBefore are the leases that have ended jobs of what is open, and how.
func (t *settling) endsBefore(ctx context.Context, r runner) (map[driver.Held]fairlead.State, error) {
	ends := map[driver.Held]fairlead.State{}
	ids, _ := t.names(t.open)
	err := r.run(ctx, call{sql: t.sql.Retrace, args: []any{ids}, each: func(row sqlstore.Scanner) error {
		var lease driver.Held
		var outcome int
		err := row.Scan(&lease.ID, &lease.Fence, &outcome)
		ends[lease] = sqlstore.StateOf(outcome)
		return err
	}})
	return ends, err
}

// settleReplacing makes one settlement and, if that moved the job now, enqueues
// its successor. A successor that cannot be enqueued fails the job.
func (t *settling) settleReplacing(ctx context.Context, r runner, i int, successor *newJobs) error {
	one := newSettling(t.Store, []fairlead.Settlement{t.asked[i]})
	one.callers = t.callers
	err := r.run(ctx, call{sql: t.sql.Savepoint})
	if err == nil {
		one.open = []int{0}
		err = one.move(ctx, r)
	}
	if err == nil && len(one.open) == 0 {
		err = one.enqueueSuccessor(ctx, r, successor)
	}
	if verdict.RefusesReplacement(err) {
		one.asked[0] = verdict.Refused(&one.asked[0], err)
		if err = r.run(ctx, call{sql: t.sql.ReturnToSavepoint}); err == nil {
			one.open = []int{0}
			err = one.move(ctx, r)
		}
	}
	if changed := sqlstore.ChangedLanes(nil); errors.As(err, &changed) && t.callers {
		err = errors.Join(err, r.run(ctx, call{sql: t.sql.ReturnToSavepoint}))
	}
	if err == nil {
		err = one.retrace(ctx, r)
	}
	if err != nil {
		return fmt.Errorf("job %d: %w", t.asked[i].ID, err)
	}
	t.adopt(i, one)
	return nil
}

func (t *settling) enqueueSuccessor(ctx context.Context, r runner, successor *newJobs) error {
	if successor.invalid != nil {
		return successor.invalid
	}
	successor = successor.part([]int{0}) // the caller may have to try again
	if err := t.enqueueIn(ctx, r, successor); err != nil {
		return err
	}
	successor.setIDs()
	t.ready, t.later = append(t.ready, successor.lanes...), t.later || successor.scheduled()
	t.gates = append(append(t.gates, successor.gates()...), successor.left...)
	return nil
}
