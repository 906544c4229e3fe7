package driver

import "github.com/fairlead-io/fairlead"

// Starts is how many jobs of a queue, tenant and kind a node has started.
type Starts struct {
	Tenant string
	Queue  string
	Kind   string
	Count  int
	Missed int // those that had a StartBy after they were due, and started later
}

// MissedStart reports whether a claimed job started later than was acceptable. A job
// that had to start as soon as it was due cannot miss that.
func MissedStart(job *fairlead.Job) bool {
	due := job.CreatedAt
	if job.NotBefore.After(due) {
		due = job.NotBefore
	}
	return job.StartBy.After(due) && job.StartedAt.After(job.StartBy)
}
