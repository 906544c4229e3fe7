package sqlstore

import "github.com/fairlead-io/fairlead/schedule"

// SourceOf returns the third part of a run's unique key, which follows the schedule and the
// instant. All runs with a shared trigger have the same source, so a schedule has only one of
// them per instant. Every other run has its own source.
func SourceOf(trigger schedule.Trigger, job int64) int64 {
	if trigger.Shared() {
		return 0
	}
	return job
}

// ScanFire reads a run from the columns job, schedule, due, trigger, number, skip, queued,
// state and ended_at.
func ScanFire(row Scanner) (f schedule.Fire, err error) {
	var due, ended int64
	err = row.Scan(&f.Job, &f.Schedule, &due, &f.Trigger, &f.Number, &f.Skip, &f.Queued, &f.State, &ended)
	f.Due, f.EndedAt = Time(due), Time(ended)
	return f, err
}
