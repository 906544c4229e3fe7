package sqlstore

import (
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/schedule"
)

// SourceOf is the third part of what is unique of a run, beside its schedule and
// instant. Runs by the clock and to catch up share one source, so that a schedule
// has one of them per instant; every other run is a source of its own.
func SourceOf(trigger schedule.Trigger, job int64) int64 {
	switch trigger {
	case schedule.TriggerCron, schedule.TriggerCatchUp:
		return 0
	}
	return job
}

// RunOf is the job of a run. A run is a job of its own or none: where the
// template would keep a job that has its key, the run is refused. A run belongs to
// a trace of its own unless the template names one.
func RunOf(s *schedule.Schedule, p *schedule.PlannedFire) *fairlead.Job {
	job := s.Job
	job.ID, job.NotBefore, job.Status = 0, time.Time{}, fairlead.Status{}
	if p.Args != nil {
		job.Args = p.Args
	}
	if job.Trace == "" && p.Skip == "" {
		job.Trace = newTrace()
	}
	if p.Queued {
		job.NotBefore = fairlead.Never
	}
	if p.Serial != "" {
		job.ConcurrencyKey = p.Serial
	}
	if !p.Order.IsZero() {
		job.StartBy = p.Order
	}
	if job.OnDuplicate == fairlead.KeepDuplicate {
		job.OnDuplicate = fairlead.RefuseDuplicate
	}
	return &job
}

// ScanFire reads job, schedule, due, trigger, number, skip, queued, state and
// ended_at.
func ScanFire(row Scanner) (f schedule.Fire, err error) {
	var due, ended int64
	err = row.Scan(&f.Job, &f.Schedule, &due, &f.Trigger, &f.Number, &f.Skip, &f.Queued, &f.State, &ended)
	f.Due, f.EndedAt = Time(due), Time(ended)
	return f, err
}
