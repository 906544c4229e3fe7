package postgres

import (
	"context"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/schedule"
)

// close writes down which runs are open and how far the schedules have come, and
// makes more calls in the same round trip.
func (a *acting) close(ctx context.Context, more ...call) error {
	var calls []call
	if over := a.noteRuns(); len(over) > 0 {
		record, err := a.recordCall(over)
		if err != nil {
			return err
		}
		calls = append(calls, record)
	}
	for _, c := range []call{a.openCall(), a.closeCall(), a.cursorsCall(), a.calendarsCall()} {
		if c.sql != "" {
			calls = append(calls, c)
		}
	}
	if calls = append(calls, more...); len(calls) == 0 {
		return nil
	}
	return a.in.run(ctx, calls...)
}

// noteRuns notes what became of the runs that were made, and returns those that
// have ended already.
func (a *acting) noteRuns() (over []*plannedRun) {
	for _, run := range a.runs {
		fire := schedule.Fire{
			Job: run.id, Schedule: run.of.ID, Due: run.Due, Trigger: run.Trigger, Number: run.Number, Skip: run.Skip, State: fairlead.Ready,
		}
		switch {
		case run.Skip != "":
			fire.State, fire.EndedAt = fairlead.Skipped, a.now
			run.of.Skipped = true
		case run.refusal != nil: // that it has ended is news for the next tick
			fire.State, fire.EndedAt = fairlead.Failed, a.now
		case run.Queued:
			fire.State, fire.Queued = fairlead.Scheduled, true
		case run.job.ConcurrencyKey != "":
			fire.State = fairlead.Parked
		}
		if !fire.Active() {
			over = append(over, run)
		}
		run.of.fires = append(run.of.fires, fire)
		a.made++
	}
	return over
}

// recordCall stores jobs of runs that were skipped, or could not be stored
// otherwise.
func (a *acting) recordCall(over []*plannedRun) (call, error) {
	jobs := &newJobs{flags: sqlstore.FlagFire}
	n := len(over)
	keys, reasons, errs, outcomes := make([]*string, n), make([]*string, n), make([]string, n), make([]int16, n)
	for i, run := range over {
		jobs.jobs, jobs.ids = append(jobs.jobs, run.job), append(jobs.ids, run.id)
		keys[i], outcomes[i], errs[i] = textOrNull(run.job.Key), sqlstore.OutcomeSkipped, string(run.Skip)
		if run.refusal != nil {
			outcomes[i], reasons[i] = sqlstore.OutcomeFailed, textOrNull(string(fairlead.ReasonError))
			errs[i] = sqlstore.CleanText(run.refusal.Error())
		}
	}
	if err := a.knowLanesOf(jobs); err != nil {
		return call{}, err
	}
	return jobs.guardedCall(a.sql.RecordRuns, jobs.laneGuards(a.Store), append(jobs.columns(), keys, outcomes, reasons, errs)...), nil
}

// openCall notes which of the new runs somebody has to look at.
func (a *acting) openCall() call {
	var schedules, jobs []int64
	var queued []bool
	for _, s := range a.subjects {
		for _, fire := range s.fires {
			if fire.Skip == "" {
				schedules, jobs, queued = append(schedules, s.ID), append(jobs, fire.Job), append(queued, fire.Queued)
			}
		}
	}
	if len(jobs) == 0 {
		return call{}
	}
	return call{sql: a.sql.OpenRuns, args: []any{schedules, jobs, queued}}
}

// closeCall notes which runs have ended.
func (a *acting) closeCall() call {
	var schedules, jobs []int64
	for _, s := range a.subjects {
		for _, fire := range s.closed {
			schedules, jobs = append(schedules, s.ID), append(jobs, fire.Job)
		}
	}
	if len(jobs) == 0 {
		return call{}
	}
	return call{sql: a.sql.CloseRuns, args: []any{schedules, jobs}}
}

// cursorsCall notes how far the schedules have come.
func (a *acting) cursorsCall() call {
	n := len(a.subjects)
	if n == 0 {
		return call{}
	}
	ids, due, fireAt := make([]int64, n), make([]int64, n), make([]int64, n)
	jobs, lastDue, endedAt, numbers := make([]int64, n), make([]int64, n), make([]int64, n), make([]int32, n)
	triggers, states, skipped, standing := make([]string, n), make([]string, n), make([]bool, n), make([]string, n)
	for i, s := range a.subjects {
		last := s.LastRun()
		ids[i], due[i], fireAt[i] = s.ID, sqlstore.Micros(s.plan.Cursor.Due), sqlstore.Micros(s.plan.Cursor.FireAt)
		jobs[i], lastDue[i], endedAt[i], numbers[i] = last.Job, sqlstore.Micros(last.Due), sqlstore.Micros(last.EndedAt), int32(last.Number)
		triggers[i], states[i], skipped[i] = string(last.Trigger), string(last.State), s.Skipped
		standing[i] = sqlstore.EncodeStanding(s.plan.Standing)
	}
	return call{sql: a.sql.MoveCursors, args: []any{ids, due, fireAt, jobs, lastDue, endedAt, numbers, triggers, states, skipped, standing}}
}

// calendarsCall notes with which versions of their calendars the schedules were
// computed, where that has changed.
func (a *acting) calendarsCall() call {
	var ids, versions []int64
	for _, s := range a.subjects {
		if s.sees != s.CalendarVersion && !s.deleted {
			ids, versions = append(ids, s.ID), append(versions, s.sees)
		}
	}
	if len(ids) == 0 {
		return call{}
	}
	return call{sql: a.sql.SeeCalendars, args: []any{ids, versions}}
}
