package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/schedule"
)

// scheduleTx is a transaction that acts upon schedules, each under the lock of its
// cursor: a schedule.Tx. What is only written waits for the next round trip, so that most
// transactions take three of them, however many schedules are due.
type scheduleTx struct {
	*Store
	trips  *roundTrips
	bounds map[string]int // tenant → how many jobs it may have pending

	ids    []int64         // of the schedules that were taken
	wanted map[int64]bool  // those that are due or were asked for
	living bool            // they have to exist
	brief  bool            // it waits only briefly for what other transactions hold
	seen   map[int64]int64 // schedule → version of the calendar that it was computed with, as stored
	spare  []int64         // ids for jobs
	writes []call          // that were not sent yet

	begun time.Time
	scheduleWakes
}

var _ schedule.Tx = (*scheduleTx)(nil)

// scheduleWakes is what a commit brings to others.
type scheduleWakes struct {
	fresh    []*newJobs // that are due
	admitted []int32    // lanes where queued runs became due
	gates    []int64    // where jobs were parked, or gave back their places
	freed    bool       // jobs gave back slots of limits
	stopped  bool       // jobs were taken from their nodes
}

// carryOut takes schedules in one transaction, decides about them and does what was
// decided. More calls are made at its end.
func (s *Store) carryOut(ctx context.Context, take func(ctx context.Context, t *scheduleTx) error, decide schedule.Decision, more ...call) (outcome schedule.Outcome, err error) {
	// What would take a second connection is read before the transaction.
	bounds, err := s.pending.Bounds(ctx)
	if err == nil && len(bounds) > 0 {
		err = s.refreshLanes(ctx, 0)
	}
	if err != nil {
		return schedule.Outcome{}, err
	}
	var t *scheduleTx
	err = s.renewing(ctx, func(ctx context.Context) error {
		return s.inRoundTrips(ctx, func(ctx context.Context, trips *roundTrips) error {
			t = &scheduleTx{Store: s, trips: trips, bounds: bounds, begun: time.Now(), wanted: map[int64]bool{}, seen: map[int64]int64{}}
			if err := take(ctx, t); err != nil {
				return t.locked(err, schedule.Outcome{})
			}
			if outcome, err = schedule.CarryOut(ctx, t, decide); err != nil {
				return t.locked(err, outcome)
			}
			return t.locked(trips.last(ctx, append(t.writes, more...)...), outcome)
		})
	})
	if err != nil {
		return schedule.Outcome{}, err
	}
	t.wake(ctx)
	return outcome, nil
}

// locked returns the LockedError of a transaction that has waited too long for what another one
// holds, and other errors as they are.
func (t *scheduleTx) locked(err error, outcome schedule.Outcome) error {
	if !t.brief || !lockTimedOut(err) {
		return err
	}
	return sqlstore.Locked(err, outcome, t.ids)
}

// begin begins the transaction with calls that take schedules.
func (t *scheduleTx) begin(ctx context.Context, calls ...call) error {
	dwell := t.sql.Dwell
	if t.brief {
		dwell = t.sql.DwellBriefly
	}
	return t.trips.first(ctx, append([]call{{sql: t.pin() + dwell}}, calls...)...)
}

// take notes that a schedule is locked.
func (t *scheduleTx) take(id int64, wanted bool) {
	t.ids, t.wanted[id] = append(t.ids, id), wanted
}

// queue makes calls with the next round trip.
func (t *scheduleTx) queue(calls ...call) { t.writes = append(t.writes, calls...) }

// run makes calls now, after those that wait. It implements runner.
func (t *scheduleTx) run(ctx context.Context, calls ...call) error {
	calls = append(t.writes, calls...)
	t.writes = nil
	return t.trips.run(ctx, calls...)
}

// Look implements schedule.Tx. It takes the ids of new jobs by the way: nearly always a
// schedule that is due makes one run.
func (t *scheduleTx) Look(ctx context.Context) (schedule.Sight, error) {
	sight := schedule.Sight{Calendars: map[string]*schedule.Calendar{}, Newest: map[int64]time.Time{}}
	if len(t.ids) == 0 {
		return sight, nil
	}
	var rows []schedule.Record
	var now int64
	calls := []call{
		t.scheduleRowsCall(&t.bodies, &rows, t.ids),
		t.openFiresCall(&sight.Open, t.ids),
		{sql: t.sql.CalendarsOf, args: []any{t.ids}, each: func(row sqlstore.Scanner) error {
			calendar, err := sqlstore.ScanCalendar(row)
			sight.Calendars[calendar.Name] = &calendar
			return err
		}},
		{sql: t.sql.NewestInstants, args: []any{t.ids}, each: func(row sqlstore.Scanner) error {
			var id, due int64
			err := row.Scan(&id, &due)
			sight.Newest[id] = sqlstore.Time(due)
			return err
		}},
		{sql: t.sql.Now, each: func(row sqlstore.Scanner) error { return row.Scan(&now) }},
	}
	due := 0
	for _, wanted := range t.wanted {
		if wanted {
			due++
		}
	}
	if due > 0 {
		calls = append(calls, t.idsCall(due))
	}
	if err := t.run(ctx, calls...); err != nil {
		return sight, err
	}
	if t.living && (len(rows) == 0 || rows[0].Deleted) {
		return sight, sqlstore.NoSuchSchedule(t.ids[0])
	}
	sight.Now = sqlstore.Time(now)
	for _, row := range rows {
		t.seen[row.ID] = row.CalendarVersion
		sight.Schedules = append(sight.Schedules, schedule.Taken{Record: row, Wanted: t.wanted[row.ID]})
	}
	return sight, nil
}

// LastEnded implements schedule.Tx.
func (t *scheduleTx) LastEnded(ctx context.Context, schedules []int64) (fires []schedule.Fire, err error) {
	err = t.run(ctx, firesCall(&fires, t.sql.LastFires, schedules))
	return fires, err
}

// Taken implements schedule.Tx.
func (t *scheduleTx) Taken(ctx context.Context, instants []schedule.Instant) (taken []schedule.Instant, err error) {
	schedules, due := make([]int64, len(instants)), make([]int64, len(instants))
	for i, instant := range instants {
		schedules[i], due[i] = instant.Schedule, sqlstore.Micros(instant.Due)
	}
	err = t.run(ctx, call{sql: t.sql.TakenInstants, args: []any{schedules, due}, each: func(row sqlstore.Scanner) error {
		var id, due int64
		var shared bool
		err := row.Scan(&id, &due, &shared)
		taken = append(taken, schedule.Instant{Schedule: id, Due: sqlstore.Time(due), Shared: shared})
		return err
	}})
	return taken, err
}

// idsCall takes ids for n jobs under the locks of the schedules, and not from those that
// this process has in store: of two runs of a schedule the later one has the larger id,
// whichever node made them.
func (t *scheduleTx) idsCall(n int) call {
	return call{sql: t.sql.TakeIDs, args: []any{(n + idBlock - 1) / idBlock}, each: func(row sqlstore.Scanner) error {
		var first int64
		err := row.Scan(&first)
		for id := first; id < first+idBlock; id++ {
			t.spare = append(t.spare, id)
		}
		return err
	}}
}

// Number implements schedule.Tx.
func (t *scheduleTx) Number(ctx context.Context, jobs []*fairlead.Job) error {
	if missing := len(jobs) - len(t.spare); missing > 0 {
		if err := t.run(ctx, t.idsCall(missing)); err != nil {
			return err
		}
	}
	slices.Sort(t.spare)
	for i, job := range jobs {
		job.ID = t.spare[i]
	}
	t.spare = t.spare[len(jobs):]
	return nil
}

// wake wakes those who may run, promote or have to stop jobs, and lets gates admit.
func (t *scheduleTx) wake(ctx context.Context) {
	for _, fresh := range t.fresh {
		t.announce(fresh, time.Since(t.begun))
	}
	t.notifier.work(t.admitted...)
	if t.freed {
		t.notifier.freed()
	}
	if t.stopped {
		t.notifier.cancel()
	}
	t.admit(ctx, t.gates)
	if len(t.admitted) > 0 {
		t.admitSoon(ctx)
	}
}
