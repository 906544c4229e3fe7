package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/internal/verdict"
)

// try is a statement that moves one job if it finds it where it looks. It returns the
// state in which it found the job, unless there is only one, and the job's lane.
type try struct {
	sql  string
	args []any
	from fairlead.State // where it looks; empty: it tells
}

// attempt tries to move a job from each state that allows it, in the order in
// which jobs move on. Each try hits the job or does nothing. A job that was
// missed because it moved meanwhile is looked for again: that it is in a state
// is concluded only from finding it there. It returns where the job was hit, or
// where it stays because the action is moot there. A job that ended by it, or
// whatever departure is meant, gives back its place.
func (s *Store) attempt(ctx context.Context, action verdict.Action, id int64, how gateExit, tries ...try) (fairlead.State, int32, error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	for {
		var hit, now fairlead.State
		var lane int32
		var gates []int64
		calls := make([]call, 0, len(tries)+2)
		for _, try := range tries {
			calls = append(calls, call{sql: try.sql, args: try.args, each: func(row sqlstore.Scanner) error {
				if hit = try.from; hit != "" {
					return row.Scan(&lane)
				}
				return row.Scan(&hit, &lane)
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
		if err := action.Permit(id, now); err != nil {
			return now, 0, fmt.Errorf("%s: %w", action, err)
		}
		if action.Moot(now) {
			return now, 0, nil
		}
	}
}

// Cancel ends a job that does not run, or asks a running one to stop.
func (s *Store) Cancel(ctx context.Context, id int64, reason string) error {
	ctx = sqlstore.MayWait(ctx)
	reason = sqlstore.CleanText(reason)
	next := verdict.Cancel(reason)
	state, _, err := s.attempt(ctx, verdict.ToCancel, id, ended,
		try{sql: s.sql.Cancel, args: []any{id, textOrNull(string(next.Reason)), next.Error, false, true}},
		try{sql: s.sql.Wish, args: []any{id, reason}})
	switch {
	case err != nil:
	case verdict.Asked(state):
		s.notifier.cancel()
	case verdict.HoldsSlots(state):
		s.notifier.freed()
	}
	return err
}

// Reschedule sets when a scheduled, parked or ready job becomes due.
func (s *Store) Reschedule(ctx context.Context, id int64, notBefore time.Time) error {
	ctx = sqlstore.MayWait(ctx)
	_, lane, err := s.attempt(ctx, verdict.ToReschedule, id, putOff, try{sql: s.sql.Reschedule, args: []any{id, sqlstore.Micros(notBefore)}})
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
	state, lane, err := s.attempt(ctx, verdict.ToRun, id, ended, try{sql: s.sql.RunNow, args: []any{[]int64{id}}, from: fairlead.Scheduled})
	if err == nil && !verdict.ToRun.Moot(state) {
		s.notifier.work(lane)
		s.admitSoon(ctx)
	}
	return err
}

// SetPriority changes the priority of an unfinished job.
func (s *Store) SetPriority(ctx context.Context, id int64, priority int) error {
	ctx = sqlstore.MayWait(ctx)
	state, lane, err := s.attempt(ctx, verdict.ToPrioritize, id, ended, try{sql: s.sql.SetTurn, args: []any{id, int16(-priority)}})
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
		var was, state fairlead.State // what it was when it was taken out, and what it is if it was not
		var gates []int64
		var needed error
		err := s.inTx(ctx, func(ctx context.Context, r runner) error {
			was, state, gates, needed = "", "", nil, nil
			err := r.run(ctx,
				call{sql: s.sql.NeededBy, args: []any{id}, each: func(row sqlstore.Scanner) (err error) {
					needed, err = scanNeeded(row, id)
					return err
				}},
				call{sql: s.sql.TakeOut, args: []any{id}, each: func(row sqlstore.Scanner) error { return row.Scan(&was) }},
				call{sql: s.sql.Place, args: []any{id}, each: func(row sqlstore.Scanner) error { return row.Scan(&state) }})
			if err != nil || was == "" {
				return err
			}
			if needed != nil {
				return needed // undoes it
			}
			return r.run(ctx, s.leaveCall(deleted, &gates, id), call{sql: s.sql.Forget, args: []any{[]int64{id}, string(sqlstore.StateOfDeleted(was))}})
		})
		switch {
		case was != "" && needed != nil:
			return needed
		case err != nil:
			return fmt.Errorf("delete: job %d: %w", id, err)
		case was != "":
			s.admit(ctx, gates)
			return nil
		case state == "":
			return fmt.Errorf("delete: %w", driver.NoSuchJob(id))
		}
		if err := verdict.ToDelete.Permit(id, state); err != nil {
			return fmt.Errorf("delete: %w", err)
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
	for locked := false; !locked; { // one that ended between the two statements is looked for again
		err := s.inTx(ctx, func(ctx context.Context, r runner) (err error) {
			locked, err = s.reopenIn(ctx, r, id, &lane)
			return err
		})
		if err != nil {
			return fmt.Errorf("reopen: %w", err)
		}
	}
	s.notifier.work(lane)
	s.admitSoon(ctx)
	return nil
}

// reopenIn locks a job that has ended and reopens it. It reports false if the job had not
// ended when it was to be locked, but has by now.
func (s *Store) reopenIn(ctx context.Context, r runner, id int64, lane *int32) (locked bool, err error) {
	var state fairlead.State
	var tenant string
	var key *string
	var flags int16
	err = r.run(ctx,
		call{sql: s.sql.LockDone, args: []any{id}, each: func(row sqlstore.Scanner) error {
			var outcome int
			locked = true
			return row.Scan(&outcome, &tenant, &key, &flags)
		}},
		call{sql: s.sql.Place, args: []any{id}, each: func(row sqlstore.Scanner) error { return row.Scan(&state) }})
	if err == nil && state == "" {
		err = driver.NoSuchJob(id)
	}
	if err == nil {
		err = verdict.ToReopen.Permit(id, state)
	}
	if err != nil || !locked {
		return false, err
	}
	if flags&sqlstore.FlagFire != 0 {
		if err := r.run(ctx, call{sql: s.sql.LockFire, args: []any{id}}, call{sql: s.sql.ReopenFire, args: []any{id}}); err != nil {
			return false, err
		}
	}
	if key != nil {
		if err := s.retakeKey(ctx, r, tenant, *key, id); err != nil {
			return false, err
		}
	}
	return true, r.run(ctx, call{sql: s.sql.Reopen, args: []any{id}, each: func(row sqlstore.Scanner) error { return row.Scan(lane) }})
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
