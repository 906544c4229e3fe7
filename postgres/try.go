package postgres

import (
	"context"
	"errors"
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

// trial tries to move a job from each state that allows it, in the order in which jobs move
// on. Each try hits the job or does nothing: that it is in a state is concluded only from
// finding it there. A job that ended by it, or whatever departure is meant, gives back its
// place.
type trial struct {
	id    int64
	how   gateExit
	tries []try

	hit, now fairlead.State // where it was hit, and where it is then
	lane     int32
	gates    []int64
}

// trials are the trials of an operation on some jobs.
func (o *operation) trials(ctx context.Context, ids []int64, asked *verdict.Operation) ([]*trial, error) {
	s := o.store
	targets, err := o.targets(ctx, ids, asked)
	if err != nil {
		return nil, err
	}
	trials := make([]*trial, len(ids))
	for i, id := range ids {
		t := &trial{id: id, how: ended}
		switch asked.Op {
		case fairlead.OpCancel:
			next := verdict.Cancel(asked.Reason)
			t.tries = []try{
				{sql: s.sql.Cancel, args: []any{id, textOrNull(string(next.Reason)), next.Error, false, true}},
				{sql: s.sql.Wish, args: []any{id, asked.Reason}},
			}
		case fairlead.OpReschedule:
			t.how, t.tries = putOff, []try{{sql: s.sql.Reschedule, args: []any{id, sqlstore.Micros(asked.NotBefore)}}}
		case fairlead.OpRunNow:
			t.tries = []try{{sql: s.sql.RunNow, args: []any{[]int64{id}}, from: fairlead.Scheduled}}
		case fairlead.OpSetPriority:
			t.tries = []try{{sql: s.sql.SetTurn, args: []any{id, int16(-asked.Priority)}}}
		case fairlead.OpSetQueue:
			if target, known := targets[id]; known {
				t.tries = []try{{sql: s.sql.SetLane, args: []any{id, target.ID, target.Queue, target.Tenant, target.Kind}}}
			}
		default:
			return nil, fmt.Errorf("unknown action %q", asked.Op)
		}
		trials[i] = t
	}
	return trials, nil
}

// targets are the lanes that jobs are moved to, of those that are known. The tenant and the
// kind of a job never change.
func (o *operation) targets(ctx context.Context, ids []int64, asked *verdict.Operation) (map[int64]sqlstore.Lane, error) {
	if asked.Op != fairlead.OpSetQueue {
		return nil, nil
	}
	moved := &newJobs{}
	err := o.in.run(ctx, call{
		sql: o.store.sql.NamesOf, args: []any{ids}, restart: func() { moved.jobs = nil },
		each: func(row sqlstore.Scanner) error {
			job := &fairlead.Job{Queue: asked.Queue}
			moved.jobs = append(moved.jobs, job)
			return row.Scan(&job.ID, &job.Tenant, &job.Kind)
		},
	})
	if err == nil {
		err = o.store.knowLanesOf(moved)
	}
	if err != nil {
		return nil, err
	}
	o.lanes = append(o.lanes, moved.lanes...)
	targets := make(map[int64]sqlstore.Lane, len(moved.jobs))
	for i, job := range moved.jobs {
		targets[job.ID] = sqlstore.Lane{ID: moved.lanes[i], LaneKey: sqlstore.KeyOf(job)}
	}
	return targets, nil
}

// allChanged makes of the error of one lane that is not as this process knows it one of all
// lanes that jobs are moved to: to look at one lane again costs a try, as to look at all does,
// and there are few tries.
func (o *operation) allChanged(err error) error {
	if changed := sqlstore.ChangedLanes(nil); errors.As(decodeError(err), &changed) {
		return append(changed, o.lanes...)
	}
	return err
}

// calls are the statements of a trial, for one round trip.
func (t *trial) calls(s *Store) []call {
	t.gates = nil
	return append(t.moves(), s.leaveCall(t.how, &t.gates, t.id), call{
		sql: s.sql.Place, args: []any{t.id}, restart: func() { t.now = "" },
		each: func(row sqlstore.Scanner) error { return row.Scan(&t.now) },
	})
}

// moves are those of the statements that may hit the job.
func (t *trial) moves() []call {
	calls := make([]call, len(t.tries), len(t.tries)+2)
	for i := range t.tries {
		try := &t.tries[i]
		calls[i] = call{sql: try.sql, args: try.args, each: func(row sqlstore.Scanner) error {
			if t.hit = try.from; t.hit != "" {
				return row.Scan(&t.lane)
			}
			return row.Scan(&t.hit, &t.lane)
		}}
	}
	if len(calls) > 0 {
		calls[0].restart = func() { t.hit = "" }
	}
	return calls
}

// judge says whether it is known what becomes of the job, and the error of a refusal. It is
// fine if the job stays where it is because the action is moot there.
func (o *operation) judge(t *trial, asked *verdict.Operation) (over bool, err error) {
	if t.hit != "" {
		o.effects.after(asked.Op, t.hit, t.lane, t.gates)
		return true, asked.Permit(t.id, t.hit)
	}
	if t.now == "" {
		return true, driver.NoSuchJob(t.id)
	}
	err = asked.Permit(t.id, t.now)
	return err != nil || verdict.Moot(asked.Op, t.now), err
}
