package fairlead

import "time"

// Never is when a queued run is due: an earlier run lets it go.
var Never = time.Date(9999, 12, 31, 23, 59, 59, 999999000, time.UTC)

// NewJob is for stores: the job of a run, not yet stored.
func (s *Schedule) NewJob(f PlannedFire) *Job {
	job := s.Job
	job.NotBefore, job.StartBy = f.Due, f.Order
	if job.StartBy.IsZero() {
		job.StartBy = f.Due
	}
	if f.Queued {
		job.NotBefore = Never
	}
	if f.Args != nil {
		job.Args = f.Args
	}
	if f.Serial != "" {
		job.ConcurrencyKey = f.Serial
	}
	return &job
}
