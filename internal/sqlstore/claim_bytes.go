package sqlstore

import "github.com/fairlead-io/fairlead"

// ClaimBytes keeps the documents of claimed jobs within Claim.Bytes. The zero value keeps
// all.
type ClaimBytes struct {
	Most int // 0: there is no bound
	read int
}

// Keep drops the documents of the next job if they are too large together with those of the
// jobs before it. A claim that is tried again begins with a first job again.
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
