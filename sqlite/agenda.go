package sqlite

import (
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/schedule"
)

// agenda is a schedule with what is to be done for it.
type agenda struct {
	row    sqlstore.ScheduleRow
	active []schedule.Fire
	ended  []schedule.Fire // of which the schedule has not been told
	gone   map[int64]bool  // those of them whose job was deleted
	plan   schedule.Plan
	sees   int64 // version of its calendar
}

// look reads how the runs of schedules stand. It writes nothing.
func (t *txn) look(rows []sqlstore.ScheduleRow) ([]*agenda, error) {
	agendas, byID := make([]*agenda, len(rows)), make(map[int64]*agenda, len(rows))
	ids := make([]int64, len(rows))
	for i, row := range rows {
		agendas[i] = &agenda{row: row}
		byID[row.ID], ids[i] = agendas[i], row.ID
	}
	if len(ids) == 0 {
		return nil, nil
	}
	open, err := t.openFires(ids)
	if err != nil {
		return nil, err
	}
	for _, fire := range open {
		byID[fire.Schedule].add(fire, sqlstore.Time(t.now))
	}
	return agendas, nil
}

// add sorts an open run in. Nobody knows when a job was deleted: now it is known
// that it was.
func (a *agenda) add(fire schedule.Fire, now time.Time) {
	if fire.Active() {
		a.active = append(a.active, fire)
		return
	}
	if fire.EndedAt.IsZero() {
		fire.EndedAt = now
		if a.gone == nil {
			a.gone = map[int64]bool{}
		}
		a.gone[fire.Job] = true
	}
	a.ended = append(a.ended, fire)
	a.row.Ended(fire)
}

// decideAll asks for a plan for each schedule and carries all of them out. It
// returns the jobs of the runs that were made. Nothing is written before the last
// answer.
func (t *txn) decideAll(agendas []*agenda, decide decision) ([]int64, error) {
	calendars := map[string]*schedule.Calendar{"": nil}
	for _, a := range agendas {
		view, err := t.view(a, calendars)
		if err != nil {
			return nil, err
		}
		if a.plan, err = decide(a.row.Schedule, view); err != nil {
			return nil, err
		}
	}
	for _, a := range agendas {
		if err := t.closeEnded(a); err != nil {
			return nil, err
		}
		if err := t.cancelAndAdmit(a); err != nil {
			return nil, err
		}
	}
	made, err := t.makeRuns(agendas)
	if err != nil {
		return nil, err
	}
	if err := t.sendAlerts(agendas); err != nil {
		return nil, err
	}
	for _, a := range agendas {
		last := a.row.LastRun()
		err := t.must(1, t.sql.Advance, sqlstore.Micros(a.plan.Cursor.Due), sqlstore.Micros(a.plan.Cursor.FireAt),
			last.Job, sqlstore.Micros(last.Due), string(last.Trigger), last.Number, string(last.State), sqlstore.Micros(last.EndedAt),
			a.row.Skipped, sqlstore.EncodeStanding(a.plan.Standing), a.sees, a.row.ID)
		if err != nil {
			return nil, err
		}
	}
	return made, nil
}

// sendAlerts stores the jobs that tell of what has gone wrong.
func (t *txn) sendAlerts(agendas []*agenda) error {
	var alerts []*fairlead.Job
	for _, a := range agendas {
		jobs, err := sqlstore.Alerts(&a.plan)
		if err != nil {
			return err
		}
		alerts = append(alerts, jobs...)
	}
	if len(alerts) == 0 {
		return nil
	}
	_, err := t.enqueue(newJobs(alerts))
	return err
}

// view is what a decision is made from. What it hands out belongs to decide.
func (t *txn) view(a *agenda, calendars map[string]*schedule.Calendar) (schedule.View, error) {
	view := schedule.View{Now: sqlstore.Time(t.now), Active: slices.Clone(a.active), Skipped: a.row.Skipped}
	view.Ended, view.Standing = sqlstore.InOrderOfEnd(slices.Clone(a.ended)), a.row.Standing
	calendar, known := calendars[a.row.Calendar]
	if !known {
		var err error
		if calendar, err = t.calendar(a.row.Calendar); err != nil {
			return view, err
		}
		calendars[a.row.Calendar] = calendar
	}
	view.Calendar, a.sees = clone(calendar), sqlstore.VersionOf(calendar)
	last, err := t.last(a)
	view.Last = clone(last)
	return view, err
}

func clone[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}

// last is the last run of a schedule. One that was retried has not ended: then it
// is looked for among those that are still known.
func (t *txn) last(a *agenda) (*schedule.Fire, error) {
	retried := func(fire schedule.Fire) bool { return fire.Job == a.row.LastRun().Job }
	if !slices.ContainsFunc(a.active, retried) {
		return a.row.Last, nil
	}
	known, err := t.scanFires(t.sql.LastFire, a.row.ID)
	if err != nil {
		return nil, err
	}
	var earlier sqlstore.ScheduleRow
	for _, fire := range append(known, a.ended...) {
		earlier.Ended(fire)
	}
	return earlier.Last, nil
}

// closeEnded notes that the schedule was told which runs have ended. One whose
// job was deleted has nothing left that could be read.
func (t *txn) closeEnded(a *agenda) error {
	for _, fire := range a.ended {
		var err error
		if a.gone[fire.Job] {
			err = t.must(1, t.sql.DropFire, fire.Job)
		} else {
			err = t.closeFire(fire)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// cancelAndAdmit does what the plan says of runs that there are. Others than those
// that decide was told of are left alone.
func (t *txn) cancelAndAdmit(a *agenda) error {
	for _, fire := range a.active {
		switch {
		case slices.Contains(a.plan.Cancel, fire.Job):
			if err := t.replaceRun(&fire); err != nil {
				return err
			}
			a.row.Ended(fire)
		case fire.Queued && slices.Contains(a.plan.Admit, fire.Job):
			if err := t.admitRun(fire.Job); err != nil {
				return err
			}
		}
	}
	return nil
}

// replaceRun ends a run at once. One that is running gets a fence that nobody
// has, so that its node is too late to settle it.
func (t *txn) replaceRun(fire *schedule.Fire) error {
	p, err := t.locate(fire.Job)
	if err != nil {
		return err
	}
	if p.state == fairlead.Running {
		if p.fence, err = t.next(fenceCounter, 1); err != nil {
			return err
		}
		t.wakes.cancel = true
	}
	err = t.finish(p, end{outcome: sqlstore.OutcomeCancelled, reason: fairlead.ReasonReplaced, err: "a later run of its schedule took its place"})
	if err != nil {
		return err
	}
	fire.Queued, fire.State, fire.EndedAt = false, fairlead.Cancelled, sqlstore.Time(t.now)
	return t.closeFire(*fire)
}

// admitRun lets a queued run start.
func (t *txn) admitRun(job int64) error {
	p, err := t.locate(job)
	if err != nil {
		return err
	}
	if err := t.must(1, t.sql.AdmitFire, job); err != nil {
		return err
	}
	return t.runNow(p)
}
