package sqlstore

import "github.com/fairlead-io/fairlead"

// ClaimBytes limits the total size of the documents of claimed jobs to Claim.Bytes. The
// zero value imposes no limit.
type ClaimBytes struct {
	Most int // 0 = unlimited
	read int
}

// Keep drops the documents of the next job if they would exceed the limit together with
// those of the jobs before it. When a claim is retried, its first job resets the total.
func (c *ClaimBytes) Keep(job *fairlead.Job, first bool) {
	if first {
		c.read = 0
	}
	size := len(job.Args) + len(job.Memo) + len(job.Progress)
	if c.Most > 0 && !first && size > 0 && c.read+size > c.Most {
		job.Args, job.Memo, job.Progress, job.Bare = nil, nil, nil, true
		return
	}
	c.read += size
}
