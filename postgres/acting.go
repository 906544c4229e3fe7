package postgres

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/schedule"
)

// decision decides what is done with a schedule.
type decision func(schedule.Schedule, schedule.View) (schedule.Plan, error)

// acting is a transaction that acts upon schedules, each under its lock.
type acting struct {
	*Store
	decide decision
	bounds map[string]int // tenant → how many jobs it may have pending

	in       runner
	begun    time.Time
	now      time.Time // the database's clock, read under the locks
	subjects []*subject
	runs     []*plannedRun
	decided  int // schedules
	made     int // runs
	tidings
}

// tidings are whom others have to be told of once it is committed.
type tidings struct {
	fresh    *newJobs // that are due; nil: none
	alerts   *newJobs // that tell of what has gone wrong; nil: none
	admitted []int32  // lanes where queued runs became due
	gates    []int64  // where jobs were parked, or gave back their places
	freed    bool     // jobs gave back slots of limits
	stopped  bool     // jobs were taken from their nodes
}

// subject is a schedule that is acted upon.
type subject struct {
	scheduleRow
	wanted bool            // it is due or was asked for: it is acted upon though none of its runs has ended
	active []schedule.Fire // oldest first
	closed []schedule.Fire // runs that have ended
	last   *schedule.Fire  // of those that have
	plan   schedule.Plan
	fires  []schedule.Fire // that were made
	sees   int64           // version of its calendar
}

func newSubject(id int64, wanted bool) *subject {
	s := &subject{wanted: wanted}
	s.ID = id
	return s
}

// newActing prepares what must not be asked for inside the transaction: that would
// take a second connection.
func (s *Store) newActing(ctx context.Context, decide decision) (*acting, error) {
	bounds, err := s.pending.Bounds(ctx)
	if err == nil && len(bounds) > 0 {
		err = s.refreshLanes(ctx, 0)
	}
	return &acting{Store: s, decide: decide, bounds: bounds}, err
}

// restart forgets a try that was undone.
func (a *acting) restart(r runner) {
	*a = acting{Store: a.Store, decide: a.decide, bounds: a.bounds, in: r, begun: time.Now()}
}

// act decides about the schedules that were taken and does what was decided. More
// calls are made after all that.
func (a *acting) act(ctx context.Context, more ...call) error {
	if len(a.subjects) > 0 {
		if err := a.look(ctx); err != nil {
			return err
		}
	}
	return a.carryOut(ctx, more...)
}

// look reads what the decisions are made from, and makes them. Schedules that
// another was faster with are passed over.
func (a *acting) look(ctx context.Context) error {
	ids, byID := make([]int64, len(a.subjects)), make(map[int64]*subject, len(a.subjects))
	for i, s := range a.subjects {
		ids[i], byID[s.ID] = s.ID, s
	}
	var rows []scheduleRow
	var open []schedule.Fire
	calendars, now := map[string]*schedule.Calendar{}, int64(0)
	err := a.in.run(ctx,
		a.scheduleRowsCall(&rows, ids),
		a.openFiresCall(&open, ids),
		call{sql: a.sql.CalendarsOf, args: []any{ids}, each: func(row sqlstore.Scanner) error {
			calendar, err := sqlstore.ScanCalendar(row)
			calendars[calendar.Name] = &calendar
			return err
		}},
		call{sql: a.sql.Now, each: func(row sqlstore.Scanner) error { return row.Scan(&now) }})
	if err != nil {
		return err
	}
	a.now = sqlstore.Time(now)
	for _, row := range rows {
		byID[row.ID].scheduleRow = row
	}
	for _, fire := range open {
		byID[fire.Schedule].see(fire, a.now)
	}
	a.subjects = slices.DeleteFunc(a.subjects, func(s *subject) bool { return !s.wanted && len(s.closed) == 0 && (!s.Outdated || s.deleted) })
	if err := a.findLast(ctx); err != nil {
		return err
	}
	for _, s := range a.subjects {
		if err := a.decideAbout(s, calendars[s.Calendar]); err != nil {
			return err
		}
	}
	return nil
}

// see notes an open run, or that it has ended.
func (s *subject) see(fire schedule.Fire, now time.Time) {
	if fire.Active() {
		s.active = append(s.active, fire)
		return
	}
	if fire.EndedAt.IsZero() { // its job was removed
		fire.EndedAt = now
	}
	s.end(fire)
}

// end notes that a run has ended.
func (s *subject) end(fire schedule.Fire) {
	fire.Queued = false
	s.closed = append(s.closed, fire)
	s.Ended(fire)
}

// findLast finds the last runs of schedules. One that was retried has not ended:
// then it is the last of those that are news or can still be read.
func (a *acting) findLast(ctx context.Context) error {
	retried := map[int64]*subject{}
	var ids []int64
	for _, s := range a.subjects {
		s.last = s.Last
		if s.Last != nil && slices.ContainsFunc(s.active, func(fire schedule.Fire) bool { return fire.Job == s.Last.Job }) {
			retried[s.ID], ids = s, append(ids, s.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	var known []schedule.Fire
	if err := a.in.run(ctx, firesCall(&known, a.sql.LastFires, ids)); err != nil {
		return err
	}
	for _, s := range retried {
		s.last = nil
		known = append(known, s.closed...)
	}
	slices.SortFunc(known, func(a, b schedule.Fire) int { return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.Job, b.Job)) })
	for i, fire := range known {
		retried[fire.Schedule].last = &known[i]
	}
	return nil
}

// decideAbout asks for a plan. A deleted schedule has none: its runs are only seen
// to have ended.
func (a *acting) decideAbout(s *subject, calendar *schedule.Calendar) (err error) {
	if s.deleted {
		s.plan.Cursor, s.plan.Standing = s.Cursor, s.Standing
		return nil
	}
	s.sees = sqlstore.VersionOf(calendar)
	view := schedule.View{
		Now: a.now, Calendar: calendar, Active: slices.Clone(s.active), Skipped: s.Skipped,
		Ended: sqlstore.InOrderOfEnd(slices.Clone(s.closed)), Standing: s.Standing,
	}
	if s.last != nil {
		last := *s.last
		view.Last = &last
	}
	if s.plan, err = a.decide(s.Schedule, view); err != nil {
		return err
	}
	a.decided++
	return nil
}

// tell wakes those who may run, promote or have to stop jobs, and lets gates admit.
func (a *acting) tell(ctx context.Context) {
	if a.fresh != nil {
		a.announce(a.fresh, time.Since(a.begun))
	}
	if a.alerts != nil {
		a.announce(a.alerts, time.Since(a.begun))
	}
	a.notifier.work(a.admitted...)
	if a.freed {
		a.notifier.freed()
	}
	if a.stopped {
		a.notifier.cancel()
	}
	a.admit(ctx, a.gates)
	if len(a.admitted) > 0 {
		a.admitSoon(ctx)
	}
}

// fires are the runs that were made.
func (a *acting) fires() []schedule.Fire {
	var fires []schedule.Fire
	for _, s := range a.subjects {
		fires = append(fires, s.fires...)
	}
	return fires
}
