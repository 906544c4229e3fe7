package mysql

import (
	"context"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/schedule"
)

// carryOut does what was planned for all schedules, and tells which runs it made.
func (p *planning) carryOut(ctx context.Context) ([]schedule.Fire, error) {
	if err := p.moveActive(ctx); err != nil {
		return nil, err
	}
	made, err := p.makeRuns(ctx)
	if err != nil {
		return nil, err
	}
	if err := p.sendAlerts(ctx); err != nil {
		return nil, err
	}
	return made, p.advance(ctx)
}

// active is the active run that a job is, if it is one of the schedule.
func (s *lockedSchedule) active(job int64) (run schedule.Fire, active bool) {
	i := slices.IndexFunc(s.view.Active, func(run schedule.Fire) bool { return run.Job == job })
	if i < 0 {
		return run, false
	}
	return s.view.Active[i], true
}

// moveActive ends active runs whose place others take, and lets queued ones wait
// no longer. What has moved on by itself meanwhile stays as it is.
func (p *planning) moveActive(ctx context.Context) error {
	var ids []int64
	for _, s := range p.schedules {
		ids = append(append(ids, s.plan.Cancel...), s.plan.Admit...)
	}
	jobs, err := p.locateAll(ctx, ids)
	if err != nil || len(jobs) == 0 {
		return err
	}
	now, err := p.clock(ctx)
	if err != nil {
		return err
	}
	m := moves{now: now}
	var ended []schedule.Fire
	var due []int64
	for _, s := range p.schedules {
		for _, id := range s.plan.Cancel {
			if run, active := s.active(id); active && m.replaceRun(jobs[id]) {
				run.State, run.Queued, run.EndedAt = fairlead.Cancelled, false, sqlstore.Time(now)
				ended = append(ended, run)
				s.Ended(run)
			}
		}
		for _, id := range s.plan.Admit {
			if _, active := s.active(id); active && m.admitRun(jobs[id]) {
				due = append(due, id)
			}
		}
	}
	if err := p.write(ctx, &m); err != nil {
		return err
	}
	made, err := p.execIDs(ctx, fill(p.sql.SetDue, "clock", decimal(now)), due)
	if err := checkHits(len(due), made, err); err != nil {
		return err
	}
	return p.closeRuns(ctx, ended)
}

// replaceRun ends a job that has not ended, whatever its place, and tells whether
// it did. Its node hears of it if it is running: it comes too late to settle it.
func (m *moves) replaceRun(job *placed) bool {
	if job == nil || job.state.Final() {
		return false
	}
	if job.state == fairlead.Running {
		m.news.cancel = true
	}
	m.finish(job, end{
		outcome: sqlstore.OutcomeCancelled, reason: fairlead.ReasonReplaced, err: "a later run of its schedule took its place",
	}, true)
	job.state = fairlead.Cancelled
	return true
}

// admitRun makes a queued job due, and tells whether it did.
func (m *moves) admitRun(job *placed) bool {
	if job == nil || !job.queued || job.state != fairlead.Scheduled {
		return false
	}
	m.leave(job)
	m.place(job.dueAt(m.now), m.now)
	job.queued = false
	return true
}

// advance writes how far the schedules have come.
func (p *planning) advance(ctx context.Context) error {
	moved := tuples{json: true}
	for _, s := range p.schedules {
		last, skipped := s.LastRun(), int64(0)
		if s.Skipped {
			skipped = 1
		}
		moved.add().ints(s.ID, sqlstore.Micros(s.plan.Cursor.Due), sqlstore.Micros(s.plan.Cursor.FireAt), last.Job, sqlstore.Micros(last.Due)).
			blob([]byte(last.Trigger)).int(int64(last.Number)).blob([]byte(last.State)).ints(sqlstore.Micros(last.EndedAt), skipped).
			blob([]byte(sqlstore.EncodeStanding(s.plan.Standing))).int(sqlstore.VersionOf(s.view.Calendar)).end()
	}
	hit, err := p.execRows(ctx, p.sql.MoveSchedules, &moved)
	return checkHits(len(p.schedules), hit, err)
}

// sendAlerts stores the jobs that tell of what has gone wrong. They are no runs.
func (p *planning) sendAlerts(ctx context.Context) error {
	var alerts []*fairlead.Job
	for _, s := range p.schedules {
		jobs, err := sqlstore.Alerts(&s.plan)
		if err != nil {
			return err
		}
		alerts = append(alerts, jobs...)
	}
	if len(alerts) == 0 {
		return nil
	}
	ids, err := p.prepare(ctx, alerts)
	if err != nil {
		return err
	}
	p.fires = false
	defer func() { p.fires = true }()
	return p.idsTaken(p.enqueue(ctx, alerts, ids))
}
