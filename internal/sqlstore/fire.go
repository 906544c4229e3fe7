package sqlstore

import "github.com/fairlead-io/fairlead/schedule"

// SourceOf returns the third part of a run's unique key, after its schedule and instant.
// Runs with a shared trigger have the same source, so a schedule has one such run per
// instant; every other run has a source of its own.
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
