package driver

import "github.com/fairlead-io/fairlead"

// Starts counts the jobs that a node has started for one queue, tenant and kind.
type Starts struct {
	Tenant string
	Queue  string
	Kind   string
	Count  int
	Missed int // jobs that started after their StartBy, if StartBy was later than their due time
}

// MissedStart reports whether a claimed job started after its StartBy. A job whose StartBy
// is not after its due time cannot miss its start.
func MissedStart(job *fairlead.Job) bool {
	due := job.CreatedAt
	if job.NotBefore.After(due) {
		due = job.NotBefore
	}
	return job.StartBy.After(due) && job.StartedAt.After(job.StartBy)
}
