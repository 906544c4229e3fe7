package sim

import (
	"os"
	"path/filepath"
	"time"
)

// progress is how far a run has come and since when it has not come further. A node
// that lives but ends no job makes none.
type progress struct {
	made, ended int64 // jobs
	most        int   // jobs that ran at once
	since       time.Time
}

// note compares with what was known. As long as schedules are due, time itself is
// progress.
func (p *progress) note(s Sample, live int64, span Span) {
	now := progress{made: s.Jobs, ended: s.Jobs - live, most: max(p.most, len(s.Running)), since: time.Now()}
	if now.made > p.made || now.ended > p.ended || now.most > p.most || s.DB < span.To {
		*p = now
	}
}

// crowdFile appears in the directory of a run when enough jobs run at once.
const crowdFile = "crowd"

// gather lets the jobs go on that wait for each other, once there are enough.
func (c *Cluster) gather() error {
	if !c.gathering() || c.progress.most < c.Crowd {
		return nil
	}
	c.gathered = true
	return os.WriteFile(filepath.Join(c.Dir, crowdFile), nil, 0o600)
}

// gathering reports whether jobs wait for each other.
func (c *Cluster) gathering() bool { return c.Crowd > 0 && !c.gathered }

// crowded reports whether enough jobs have run at once. A worker runs in the directory
// of its run.
func crowded() bool {
	_, err := os.Stat(crowdFile)
	return err == nil
}
