package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/schedule"
)

// scheduleTx is a transaction that acts upon schedules, whose rows it has locked: a
// schedule.Tx.
type scheduleTx struct {
	*txn
	bounds map[string]int // of jobs that may be pending, by tenant
	taken  []schedule.Taken
	heldUp []int64 // schedules that are not taken
	brief  bool    // it waits only briefly for what other transactions hold
}

var _ schedule.Tx = (*scheduleTx)(nil)

// carryOut takes schedules in one transaction, decides about them and does what was
// decided. f is called at its end. What it needs from outside of the transaction is read
// before: a call that has one connection does not wait for another.
func (s *Store) carryOut(
	ctx context.Context, verb string, take func(ctx context.Context, t *scheduleTx) error, decide schedule.Decision,
	f func(ctx context.Context, t *scheduleTx) error,
) (outcome schedule.Outcome, err error) {
	ctx, cancel := s.withTimeout(ctx)
	defer cancel()
	bounds, err := s.pending.Bounds(ctx)
	if err != nil {
		return outcome, fmt.Errorf("%s: %w", verb, err)
	}
	err = s.inTx(ctx, verb, func(ctx context.Context, t *txn) (err error) {
		st := &scheduleTx{txn: t, bounds: bounds}
		return st.waitAgain(ctx, func() error {
			if err := take(ctx, st); err != nil {
				return st.locked(err, schedule.Outcome{})
			}
			if outcome, err = schedule.CarryOut(ctx, st, decide); err != nil {
				return st.locked(err, outcome)
			}
			return f(ctx, st)
		})
	})
	if err != nil {
		return schedule.Outcome{}, err
	}
	return outcome, nil
}

// waitNever lets the transaction fail rather than wait for what other transactions hold.
func (t *scheduleTx) waitNever(ctx context.Context) error {
	t.brief = true
	_, err := t.exec(ctx, t.sql.WaitNever)
	return err
}

// waitAgain runs f and then lets the connection wait for locks as before, as the next call may
// need that. If it cannot, the connection is broken or its call has timed out, and serverConn
// lets the pool give it up.
func (t *scheduleTx) waitAgain(ctx context.Context, f func() error) error {
	err := f()
	if !t.brief {
		return err
	}
	if _, failed := t.exec(ctx, t.sql.WaitAsUsual); err == nil {
		err = failed
	}
	return err
}

// locked returns the LockedError of a transaction that has waited too long for what another one
// holds, and other errors as they are.
func (t *scheduleTx) locked(err error, outcome schedule.Outcome) error {
	if !t.brief || !lockTimedOut(err) {
		return err
	}
	return sqlstore.Locked(err, outcome, t.ids())
}

// take notes that schedules are locked.
func (t *scheduleTx) take(locked []schedule.Record, wanted bool) {
	for _, record := range locked {
		t.taken = append(t.taken, schedule.Taken{Record: record, Wanted: wanted})
	}
}

// ids are the schedules that were taken, in order.
func (t *scheduleTx) ids() []int64 {
	ids := make([]int64, len(t.taken))
	for i := range t.taken {
		ids[i] = t.taken[i].ID
	}
	slices.Sort(ids)
	return ids
}

// Look implements schedule.Tx.
func (t *scheduleTx) Look(ctx context.Context) (sight schedule.Sight, err error) {
	sight = schedule.Sight{Schedules: t.taken, Newest: map[int64]time.Time{}}
	if len(t.taken) == 0 {
		return sight, nil
	}
	ids := t.ids()
	if sight.Open, err = t.openFires(ctx, ids); err != nil {
		return sight, err
	}
	if sight.Calendars, err = t.calendars(ctx); err != nil {
		return sight, err
	}
	err = t.eachOf(ctx, func(row *sql.Rows) error {
		var id, due int64
		err := row.Scan(&id, &due)
		if due != 0 {
			sight.Newest[id] = sqlstore.Time(due)
		}
		return err
	}, t.sql.NewestInstants, ids)
	if err != nil {
		return sight, err
	}
	now, err := t.clock(ctx)
	sight.Now = sqlstore.Time(now)
	return sight, err
}

// calendars are those that the schedules name.
func (t *scheduleTx) calendars(ctx context.Context) (map[string]*schedule.Calendar, error) {
	var names []string
	for i := range t.taken {
		if name := t.taken[i].Calendar; name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	byName := map[string]*schedule.Calendar{}
	if len(names) == 0 {
		return byName, nil
	}
	found, err := readCalendars(ctx, t.tx, fill(t.sql.NamedCalendars, "list", nameList(names)))
	for i := range found {
		byName[found[i].Name] = &found[i]
	}
	return byName, err
}

// fireBack is among how many runs of a schedule the last one that ended is looked for.
const fireBack = 100

// LastEnded implements schedule.Tx.
func (t *scheduleTx) LastEnded(ctx context.Context, schedules []int64) (fires []schedule.Fire, err error) {
	for _, id := range schedules {
		latest := fill(t.sql.LastFires, "id", decimal(id), "limit", decimal(fireBack))
		runs, err := readRuns(ctx, t.tx, fill(t.sql.Fires, "choice", latest))
		if err != nil {
			return nil, err
		}
		fires = append(fires, plainRuns(runs)...)
	}
	return fires, nil
}

// Taken implements schedule.Tx.
func (t *scheduleTx) Taken(ctx context.Context, instants []schedule.Instant) (taken []schedule.Instant, err error) {
	asked := tuples{json: true}
	for _, instant := range instants {
		asked.add().ints(instant.Schedule, sqlstore.Micros(instant.Due)).end()
	}
	err = t.eachRows(ctx, func(row *sql.Rows) error {
		var id, due int64
		var shared bool
		err := row.Scan(&id, &due, &shared)
		taken = append(taken, schedule.Instant{Schedule: id, Due: sqlstore.Time(due), Shared: shared})
		return err
	}, t.sql.TakenInstants, &asked)
	return taken, err
}

// Number implements schedule.Tx.
func (t *scheduleTx) Number(ctx context.Context, jobs []*fairlead.Job) error {
	ids, err := t.prepare(ctx, jobs)
	if err == nil {
		setIDs(jobs, ids)
	}
	return err
}
