package sim

import (
	"os"
	"path/filepath"
	"time"
)

// progress records the progress of a run and the time of the last progress. A node that is
// alive but completes no job makes no progress.
type progress struct {
	made, ended int64 // numbers of created and ended jobs
	most        int   // maximum number of concurrently running jobs
	since       time.Time
}

// note compares a sample with the known state. As long as schedules are due, the passing of
// time is progress.
func (p *progress) note(s Sample, live int64, span Span) {
	now := progress{made: s.Jobs, ended: s.Jobs - live, most: max(p.most, len(s.Running)), since: time.Now()}
	if now.made > p.made || now.ended > p.ended || now.most > p.most || s.DB < span.To {
		*p = now
	}
}

// crowdFile is the name of a file that appears in the directory of a run when enough jobs
// run concurrently.
const crowdFile = "crowd"

// gather releases the jobs that wait for each other, once there are enough.
func (c *Cluster) gather() error {
	if !c.gathering() || c.progress.most < c.Crowd {
		return nil
	}
	c.gathered = true
	return os.WriteFile(filepath.Join(c.Dir, crowdFile), nil, 0o600)
}

// gathering reports whether jobs wait for each other.
func (c *Cluster) gathering() bool { return c.Crowd > 0 && !c.gathered }

// crowded reports whether enough jobs have run concurrently. A worker runs in the directory
// of its run.
func crowded() bool {
	_, err := os.Stat(crowdFile)
	return err == nil
}
