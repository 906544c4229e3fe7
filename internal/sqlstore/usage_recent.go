package sqlstore

import (
	"context"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
)

// Counting reads every live job. A process counts again only after a time proportional to
// their number, so however often it is called, counting takes a limited share of the
// database's time.
const (
	countedAtOnce = 10_000                // live jobs; if there are fewer, each call counts
	countPause    = 10 * time.Microsecond // for each live job
)

// recentUsage caches the usage that a process has counted last.
type recentUsage struct {
	lock  Lock
	last  fairlead.UsageReport
	until time.Time // end of the report's validity
}

// Report returns the last count while it is recent, and otherwise calls count. Of
// concurrent callers, one counts and the others wait for its result.
func (r *recentUsage) Report(ctx context.Context, count func() (fairlead.UsageReport, error)) (fairlead.UsageReport, error) {
	if err := r.lock.Acquire(ctx); err != nil {
		return fairlead.UsageReport{}, err
	}
	defer r.lock.Release()
	if !time.Now().Before(r.until) {
		report, err := count()
		if err != nil {
			return fairlead.UsageReport{}, err
		}
		r.last, r.until = report, time.Time{}
		if live := report.All.Scheduled + report.All.Parked + report.All.Ready + report.All.Running + report.All.Waiting; live >= countedAtOnce {
			r.until = time.Now().Add(time.Duration(live) * countPause)
		}
	}
	report := r.last
	report.Tenants, report.Queues, report.Kinds = slices.Clone(report.Tenants), slices.Clone(report.Queues), slices.Clone(report.Kinds)
	return report, nil
}
