package postgres

import (
	"context"
	"fmt"

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

// Operate implements what sqlstore needs to do something to one job.
func (d database) Operate(ctx context.Context, id int64, deed *verdict.Deed) error {
	ctx, cancel := d.Store.withTimeout(sqlstore.MayWait(ctx))
	defer cancel()
	op := &operation{store: d.Store, in: d.Store, inTx: d.Store.inTx}
	err := d.Store.renewing(ctx, func(ctx context.Context) error { return op.do(ctx, id, deed) })
	if err != nil {
		return fmt.Errorf("%s: %w", deed.Action, err)
	}
	d.Store.tell(ctx, &op.effects)
	return nil
}

// operation acts upon jobs, each in a transaction of its own or all in one, and remembers
// what to wake once that is committed.
type operation struct {
	store *Store
	in    runner                                                                 // of one round trip
	inTx  func(ctx context.Context, f func(context.Context, runner) error) error // of several
	effects
}

// do does something to one job, wherever it is.
func (o *operation) do(ctx context.Context, id int64, deed *verdict.Deed) error {
	s := o.store
	switch deed.Action {
	case verdict.ToCancel:
		next := verdict.Cancel(deed.Reason)
		return o.attempt(ctx, deed, id, ended,
			try{sql: s.sql.Cancel, args: []any{id, textOrNull(string(next.Reason)), next.Error, false, true}},
			try{sql: s.sql.Wish, args: []any{id, deed.Reason}})
	case verdict.ToReopen:
		return o.reopen(ctx, id, deed)
	case verdict.ToReschedule:
		return o.attempt(ctx, deed, id, putOff, try{sql: s.sql.Reschedule, args: []any{id, sqlstore.Micros(deed.NotBefore)}})
	case verdict.ToRun:
		return o.attempt(ctx, deed, id, ended, try{sql: s.sql.RunNow, args: []any{[]int64{id}}, from: fairlead.Scheduled})
	case verdict.ToPrioritize:
		return o.attempt(ctx, deed, id, ended, try{sql: s.sql.SetTurn, args: []any{id, int16(-deed.Priority)}})
	case verdict.ToMove:
		return o.move(ctx, id, deed)
	case verdict.ToDelete:
		return o.delete(ctx, id, deed)
	}
	return fmt.Errorf("there is no action %q", deed.Action)
}

// attempt tries to move a job from each state that allows it, in the order in
// which jobs move on. Each try hits the job or does nothing. A job that was
// missed because it moved meanwhile is looked for again: that it is in a state
// is concluded only from finding it there. It is fine if the job stays where it is
// because the action is moot there. A job that ended by it, or
// whatever departure is meant, gives back its place.
func (o *operation) attempt(ctx context.Context, deed *verdict.Deed, id int64, how gateExit, tries ...try) error {
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
		calls = append(calls, o.store.leaveCall(how, &gates, id),
			call{sql: o.store.sql.Place, args: []any{id}, each: func(row sqlstore.Scanner) error { return row.Scan(&now) }})
		if err := o.in.run(ctx, calls...); err != nil {
			return fmt.Errorf("job %d: %w", id, err)
		}
		if hit != "" {
			o.effects.after(deed.Action, hit, lane, gates)
			return deed.Permit(id, hit)
		}
		if now == "" {
			return driver.NoSuchJob(id)
		}
		if err := deed.Permit(id, now); err != nil || deed.Action.Moot(now) {
			return err
		}
	}
}

// move puts a job into another queue. Its tenant and its kind never change.
func (o *operation) move(ctx context.Context, id int64, deed *verdict.Deed) error {
	probe, known := &fairlead.Job{Queue: deed.Queue}, false
	err := o.in.run(ctx, call{sql: o.store.sql.NamesOf, args: []any{id}, each: func(row sqlstore.Scanner) error {
		known = true
		return row.Scan(&probe.Tenant, &probe.Kind)
	}})
	if err != nil {
		return err
	}
	if !known {
		return driver.NoSuchJob(id)
	}
	target := &newJobs{jobs: []*fairlead.Job{probe}}
	if err := o.store.knowLanesOf(target); err != nil {
		return err
	}
	return o.attempt(ctx, deed, id, ended, try{sql: o.store.sql.SetLane, args: []any{id, target.lanes[0], probe.Queue, probe.Tenant, probe.Kind}})
}

// delete removes a job and all that is known of it.
func (o *operation) delete(ctx context.Context, id int64, deed *verdict.Deed) error {
	for {
		var was, state fairlead.State // what it was when it was taken out, and what it is if it was not
		var gates []int64
		var needed error
		err := o.inTx(ctx, func(ctx context.Context, r runner) error {
			was, state, gates, needed = "", "", nil, nil
			err := r.run(ctx,
				call{sql: o.store.sql.NeededBy, args: []any{id}, each: func(row sqlstore.Scanner) (err error) {
					needed, err = scanNeeded(row, id)
					return err
				}},
				call{sql: o.store.sql.TakeOut, args: []any{id}, each: func(row sqlstore.Scanner) error { return row.Scan(&was) }},
				call{sql: o.store.sql.Place, args: []any{id}, each: func(row sqlstore.Scanner) error { return row.Scan(&state) }})
			if err != nil || was == "" {
				return err
			}
			if needed == nil {
				needed = deed.Permit(id, was)
			}
			if needed != nil {
				return needed // undoes it
			}
			return r.run(ctx, o.store.leaveCall(deleted, &gates, id), call{sql: o.store.sql.Forget, args: []any{[]int64{id}, string(sqlstore.StateOfDeleted(was))}})
		})
		switch {
		case was != "" && needed != nil:
			return needed
		case err != nil:
			return fmt.Errorf("job %d: %w", id, err)
		case was != "":
			o.effects.gates = append(o.effects.gates, gates...)
			return nil
		case state == "":
			return driver.NoSuchJob(id)
		}
		if err := deed.Permit(id, state); err != nil {
			return err
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

// reopen makes a failed or cancelled job ready again. A run of a schedule is open
// again too: the lock of the schedule, which comes before that of any key, keeps
// it from being closed meanwhile.
func (o *operation) reopen(ctx context.Context, id int64, deed *verdict.Deed) error {
	for { // one that ended between the two statements is looked for again
		var lane int32
		var locked bool
		err := o.inTx(ctx, func(ctx context.Context, r runner) (err error) {
			locked, err = o.store.reopenIn(ctx, r, id, deed, &lane)
			return err
		})
		if err != nil {
			return err
		}
		if locked {
			o.effects.after(deed.Action, "", lane, nil)
			return nil
		}
	}
}

// reopenIn locks a job that has ended and reopens it. It reports false if the job had not
// ended when it was to be locked, but has by now.
func (s *Store) reopenIn(ctx context.Context, r runner, id int64, deed *verdict.Deed, lane *int32) (locked bool, err error) {
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
		err = deed.Permit(id, state)
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
