package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// tryFrom is a statement that moves one job if it is in a state. It returns
// the job's lane if so.
type tryFrom struct {
	state fairlead.State
	sql   string
	args  []any
}

// attempt tries to move a job from each state that allows it, in the order in
// which jobs move on. Each try hits the job or does nothing. A job that was
// missed because it moved meanwhile is looked for again: that it is in a state
// is concluded only from finding it there. It returns where the job was hit.
// A job that ended by it, or whatever departure is meant, gives back its place.
func (s *Store) attempt(ctx context.Context, action string, id int64, how gateExit, tries ...tryFrom) (fairlead.State, int32, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	for {
		var hit, now fairlead.State
		var lane int32
		var gates []int64
		calls := make([]call, 0, len(tries)+2)
		for _, try := range tries {
			calls = append(calls, call{sql: try.sql, args: try.args, each: func(row sqlstore.Scanner) error {
				hit = try.state
				return row.Scan(&lane)
			}})
		}
		calls[0].restart = func() { hit = "" }
		calls = append(calls, s.leaveCall(how, &gates, id),
			call{sql: s.sql.Place, args: []any{id}, each: func(row sqlstore.Scanner) error { return row.Scan(&now) }})
		if err := s.run(ctx, calls...); err != nil {
			return "", 0, fmt.Errorf("%s: job %d: %w", action, id, err)
		}
		if hit != "" {
			s.admit(ctx, gates)
			return hit, lane, nil
		}
		if now == "" {
			return "", 0, fmt.Errorf("%s: %w", action, driver.NoSuchJob(id))
		}
		if !allowed(now, tries) {
			return now, 0, fmt.Errorf("%s: %w", action, driver.IllegalMove(action, id, now))
		}
	}
}

func allowed(state fairlead.State, tries []tryFrom) bool {
	for _, try := range tries {
		if try.state == state {
			return true
		}
	}
	return false
}

// Cancel ends a job that does not run, or asks a running one to stop.
func (s *Store) Cancel(ctx context.Context, id int64, reason string) error {
	ctx = sqlstore.MayWait(ctx)
	reason = sqlstore.CleanText(reason)
	end := []any{id, nil, reason, false}
	state, _, err := s.attempt(ctx, "cancel", id, ended,
		tryFrom{fairlead.Scheduled, s.sql.CancelLater, end},
		tryFrom{fairlead.Parked, s.sql.CancelParked, end},
		tryFrom{fairlead.Ready, s.sql.CancelReady, end},
		tryFrom{fairlead.Running, s.sql.Wish, []any{id, reason}},
		tryFrom{fairlead.Waiting, s.sql.CancelWaiting, []any{id, reason}})
	switch {
	case err != nil:
	case state == fairlead.Running:
		s.notifier.cancel()
	case state == fairlead.Waiting:
		s.notifier.freed() // it may have had a slot
	}
	return err
}

// Reschedule sets when a scheduled, parked or ready job becomes due.
func (s *Store) Reschedule(ctx context.Context, id int64, notBefore time.Time) error {
	ctx = sqlstore.MayWait(ctx)
	args := []any{id, sqlstore.Micros(notBefore)}
	_, lane, err := s.attempt(ctx, "reschedule", id, putOff,
		tryFrom{fairlead.Scheduled, s.sql.RescheduleLater, args},
		tryFrom{fairlead.Parked, s.sql.RescheduleParked, args},
		tryFrom{fairlead.Ready, s.sql.RescheduleReady, args})
	if err == nil { // whether its time has come only the database knows
		s.notifier.later()
		s.notifier.work(lane)
		s.admitSoon(ctx)
	}
	return err
}

// RunNow makes a scheduled job ready at once.
func (s *Store) RunNow(ctx context.Context, id int64) error {
	ctx = sqlstore.MayWait(ctx)
	state, lane, err := s.attempt(ctx, "run", id, ended, tryFrom{fairlead.Scheduled, s.sql.RunNow, []any{[]int64{id}}})
	if state == fairlead.Ready || state == fairlead.Parked {
		return nil // as it is
	}
	if err == nil {
		s.notifier.work(lane)
		s.admitSoon(ctx)
	}
	return err
}

// SetPriority changes the priority of an unfinished job.
func (s *Store) SetPriority(ctx context.Context, id int64, priority int) error {
	ctx = sqlstore.MayWait(ctx)
	args := []any{id, int16(-priority)}
	state, lane, err := s.attempt(ctx, "set the priority of", id, ended,
		tryFrom{fairlead.Scheduled, s.sql.TurnLater, args},
		tryFrom{fairlead.Parked, s.sql.TurnParked, args},
		tryFrom{fairlead.Ready, s.sql.TurnReady, args},
		tryFrom{fairlead.Running, s.sql.TurnRunning, args},
		tryFrom{fairlead.Waiting, s.sql.TurnWaiting, args})
	switch {
	case err != nil:
	case state == fairlead.Ready:
		s.notifier.work(lane)
	case state == fairlead.Parked:
		s.admitSoon(ctx)
	}
	return err
}

// Delete removes a job and all that is known of it.
func (s *Store) Delete(ctx context.Context, id int64) error {
	ctx = sqlstore.MayWait(ctx)
	for {
		gone, state := false, fairlead.State("")
		var gates []int64
		var ended fairlead.State
		var needed error
		hit := hits(&gone)
		err := s.inTx(ctx, func(ctx context.Context, r runner) error {
			gone, state, gates, ended, needed = false, "", nil, fairlead.Cancelled, nil
			err := r.run(ctx,
				call{sql: s.sql.NeededBy, args: []any{id}, each: func(row sqlstore.Scanner) (err error) {
					needed, err = scanNeeded(row, id)
					return err
				}},
				call{sql: s.sql.DeleteLater, args: []any{id}, each: hit},
				call{sql: s.sql.DeleteParked, args: []any{id}, each: hit},
				call{sql: s.sql.DeleteReady, args: []any{id}, each: hit},
				call{sql: s.sql.DeleteDone, args: []any{id}, each: func(row sqlstore.Scanner) error {
					var outcome int
					err := row.Scan(&outcome)
					gone, ended = true, sqlstore.StateOf(outcome)
					return err
				}},
				call{sql: s.sql.Place, args: []any{id}, each: func(row sqlstore.Scanner) error { return row.Scan(&state) }})
			if err != nil || !gone {
				return err
			}
			if needed != nil {
				return needed // undoes it
			}
			return r.run(ctx, s.leaveCall(deleted, &gates, id), call{sql: s.sql.Forget, args: []any{[]int64{id}, string(ended)}})
		})
		switch {
		case gone && needed != nil:
			return needed
		case err != nil:
			return fmt.Errorf("delete: job %d: %w", id, err)
		case gone:
			s.admit(ctx, gates)
			return nil
		case state == "":
			return fmt.Errorf("delete: %w", driver.NoSuchJob(id))
		case state == fairlead.Running || state == fairlead.Waiting:
			return fmt.Errorf("delete: %w", driver.IllegalMove("delete", id, state))
		}
	}
}

// scanNeeded reads who has still to see how a job ends: an ErrConflict if there is one.
func scanNeeded(row sqlstore.Scanner, id int64) (needed, err error) {
	var batch, sweep *int64
	if err := row.Scan(&batch, &sweep); err != nil {
		return nil, err
	}
	return sqlstore.Needed(id, orZero(batch), orZero(sweep)), nil
}

func orZero(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// Reopen makes a failed or cancelled job ready again. A run of a schedule is open
// again too: the lock of the schedule, which comes before that of any key, keeps
// it from being closed meanwhile.
func (s *Store) Reopen(ctx context.Context, id int64) error {
	ctx = sqlstore.MayWait(ctx)
	var lane int32
	err := s.inTx(ctx, func(ctx context.Context, r runner) error {
		var outcome int
		var state fairlead.State
		var tenant string
		var key *string
		var flags int16
		err := r.run(ctx,
			call{sql: s.sql.LockDone, args: []any{id}, each: func(row sqlstore.Scanner) error { return row.Scan(&outcome, &tenant, &key, &flags) }},
			call{sql: s.sql.Place, args: []any{id}, each: func(row sqlstore.Scanner) error { return row.Scan(&state) }})
		switch {
		case err != nil:
			return err
		case state == "":
			return driver.NoSuchJob(id)
		case outcome != sqlstore.OutcomeFailed && outcome != sqlstore.OutcomeCancelled:
			return driver.IllegalMove("reopen", id, state)
		}
		if flags&sqlstore.FlagFire != 0 {
			if err := r.run(ctx, call{sql: s.sql.LockFire, args: []any{id}}, call{sql: s.sql.ReopenFire, args: []any{id}}); err != nil {
				return err
			}
		}
		if key != nil {
			if err := s.retakeKey(ctx, r, tenant, *key, id); err != nil {
				return err
			}
		}
		return r.run(ctx, call{sql: s.sql.Reopen, args: []any{id}, each: func(row sqlstore.Scanner) error { return row.Scan(&lane) }})
	})
	if err != nil {
		return fmt.Errorf("reopen: %w", err)
	}
	s.notifier.work(lane)
	s.admitSoon(ctx)
	return nil
}

// retakeKey takes a key for a job that may or may not have kept it.
func (s *Store) retakeKey(ctx context.Context, r runner, tenant, key string, id int64) error {
	probe := &fairlead.Job{Tenant: tenant, Key: key}
	for {
		if err := r.run(ctx, call{sql: s.sql.RetakeKey, args: []any{tenant, key, id}}); err != nil {
			return err
		}
		holders, err := s.keyHolders(ctx, r, []*fairlead.Job{probe})
		if err != nil {
			return err
		}
		switch holder, held := holders[keyOf(probe)]; {
		case held && holder == id:
			return nil
		case held:
			return driver.KeyTaken(tenant, key, holder)
		} // else given back meanwhile: try again
	}
}
