package postgres

import (
	"context"
	"fmt"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/internal/verdict"
	"github.com/fairlead-io/fairlead/schedule"
)

// Operate implements what sqlstore needs to do something to one job.
func (d database) Operate(ctx context.Context, id int64, asked *verdict.Operation) error {
	ctx, cancel := d.Store.withTimeout(sqlstore.MayWait(ctx))
	defer cancel()
	op := &operation{store: d.Store, in: d.Store, inTx: d.Store.inTx}
	err := d.Store.renewing(ctx, func(ctx context.Context) error { return op.do(ctx, id, asked) })
	if err != nil {
		return fmt.Errorf("%s: %w", asked.Op, err)
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
	lanes []int32                                                                // that jobs are moved to
	effects
}

// triedAtOnce reports whether one round trip acts upon a job, unless the job moves meanwhile.
func triedAtOnce(op fairlead.Op) bool {
	return op != fairlead.OpReopen && op != fairlead.OpDelete
}

// do does something to one job, wherever it is.
func (o *operation) do(ctx context.Context, id int64, asked *verdict.Operation) error {
	switch asked.Op {
	case fairlead.OpReopen:
		return o.reopen(ctx, id, asked)
	case fairlead.OpDelete:
		return o.delete(ctx, id, asked)
	}
	return o.attempt(ctx, id, asked)
}

// attempt tries until it is known what becomes of a job. One that was missed because it moved
// meanwhile is looked for again, also its target: what stored the job may have been committed
// since that was looked up.
func (o *operation) attempt(ctx context.Context, id int64, asked *verdict.Operation) error {
	for {
		trials, err := o.trials(ctx, []int64{id}, asked)
		if err != nil {
			return err
		}
		t := trials[0]
		if err := o.in.run(ctx, t.calls(o.store)...); err != nil {
			return fmt.Errorf("job %d: %w", id, err)
		}
		if over, err := o.judge(t, asked); over {
			return err
		}
	}
}

// delete removes a job and all that is known of it.
func (o *operation) delete(ctx context.Context, id int64, asked *verdict.Operation) error {
	for {
		var was, state fairlead.State // what it was when it was taken out, and what it is if it was not
		var fence int64               // under which it had ended
		var gates []int64
		var needed error
		err := o.inTx(ctx, func(ctx context.Context, r runner) error {
			was, state, gates, needed = "", "", nil, nil
			err := r.run(ctx,
				call{sql: o.store.sql.NeededBy, args: []any{id}, each: func(row sqlstore.Scanner) (err error) {
					needed, err = scanNeeded(row, id)
					return err
				}},
				call{sql: o.store.sql.TakeOut, args: []any{id}, each: func(row sqlstore.Scanner) error { return row.Scan(&was, &fence) }},
				call{sql: o.store.sql.Place, args: []any{id}, each: func(row sqlstore.Scanner) error { return row.Scan(&state) }})
			if err != nil || was == "" {
				return err
			}
			if needed == nil {
				needed = asked.PermitSeen(id, was, fence)
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
		if err := asked.Permit(id, state); err != nil {
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
func (o *operation) reopen(ctx context.Context, id int64, asked *verdict.Operation) error {
	for { // one that ended between the two statements is looked for again
		var lane int32
		var locked bool
		err := o.inTx(ctx, func(ctx context.Context, r runner) (err error) {
			locked, err = o.store.reopenIn(ctx, r, id, asked, &lane)
			return err
		})
		if err != nil {
			return err
		}
		if locked {
			o.effects.after(asked.Op, "", lane, nil)
			return nil
		}
	}
}

// reopenIn locks a job that has ended and reopens it. It reports false if the job had not
// ended when it was to be locked, but has by now.
func (s *Store) reopenIn(ctx context.Context, r runner, id int64, asked *verdict.Operation, lane *int32) (locked bool, err error) {
	var state fairlead.State
	var tenant string
	var key *string
	var flags int16
	var fence int64
	var policy []byte
	err = r.run(ctx,
		call{sql: s.sql.LockDone, args: []any{id}, each: func(row sqlstore.Scanner) error {
			var outcome int
			locked = true
			return row.Scan(&outcome, &tenant, &key, &flags, &fence, &policy)
		}},
		call{sql: s.sql.Place, args: []any{id}, each: func(row sqlstore.Scanner) error { return row.Scan(&state) }})
	if err == nil && state == "" {
		err = driver.NoSuchJob(id)
	}
	switch {
	case err != nil:
	case locked:
		err = asked.PermitSeen(id, state, fence)
	default:
		err = asked.Permit(id, state)
	}
	if err != nil || !locked {
		return false, err
	}
	if err := sqlstore.PermitReopenOf(id, policy); err != nil {
		return false, err
	}
	if flags&sqlstore.FlagFire != 0 {
		if err := s.reopenRun(ctx, r, id); err != nil {
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

// reopenRun opens a run of a schedule again, if that has room for it.
func (s *Store) reopenRun(ctx context.Context, r runner, id int64) error {
	var schedules []int64
	var name string
	var body []byte
	err := r.run(ctx, call{sql: s.sql.LockFire, args: []any{id}}, call{
		sql: s.sql.DeclaredOfRun, args: []any{id}, restart: func() { schedules = nil },
		each: func(row sqlstore.Scanner) error {
			schedules = []int64{0}
			return row.Scan(&schedules[0], &name, &body)
		},
	})
	if err != nil {
		return err
	}
	if schedules != nil {
		var active []schedule.Fire
		if err := r.run(ctx, s.openFiresCall(&active, schedules)); err != nil {
			return err
		}
		if err := sqlstore.PermitReopenRun(id, name, body, active); err != nil {
			return err
		}
	}
	return r.run(ctx, call{sql: s.sql.ReopenFire, args: []any{id}})
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
