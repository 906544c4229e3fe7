package sqlstore

import "github.com/fairlead-io/fairlead"

// ClaimBytes limits the total size of a claim's documents to Claim.Bytes. The zero value
// imposes no limit.
type ClaimBytes struct {
	Most int // 0 = unlimited
	read int
}

// Keep drops the next job's documents if adding them to those of the previous jobs would
// exceed the limit. The first job of a claim resets the total, because the claim may be a
// retry.
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
