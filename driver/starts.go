package driver

import "github.com/fairlead-io/fairlead"

// Starts counts the jobs of a queue, tenant and kind that a node has started.
type Starts struct {
	Tenant string
	Queue  string
	Kind   string
	Count  int
	Missed int // jobs that started after their StartBy, if StartBy was later than their due time
}

// MissedStart reports whether a claimed job started later than acceptable. A job whose
// StartBy is not after its due time cannot miss its start.
func MissedStart(job *fairlead.Job) bool {
	due := job.CreatedAt
	if job.NotBefore.After(due) {
		due = job.NotBefore
	}
	return job.StartBy.After(due) && job.StartedAt.After(job.StartBy)
}
