package sqlstore

import "github.com/fairlead-io/fairlead/schedule"

// SourceOf is the third part of what is unique of a run, beside its schedule and
// instant. Runs that share their instants have one source, so that a schedule
// has one of them per instant; every other run is a source of its own.
func SourceOf(trigger schedule.Trigger, job int64) int64 {
	if trigger.Shared() {
		return 0
	}
	return job
}

// ScanFire reads job, schedule, due, trigger, number, skip, queued, state and
// ended_at.
func ScanFire(row Scanner) (f schedule.Fire, err error) {
	var due, ended int64
	err = row.Scan(&f.Job, &f.Schedule, &due, &f.Trigger, &f.Number, &f.Skip, &f.Queued, &f.State, &ended)
	f.Due, f.EndedAt = Time(due), Time(ended)
	return f, err
}
