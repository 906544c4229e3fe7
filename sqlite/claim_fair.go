package sqlite

import (
	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/dispatch"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// addLimits puts a lane under its limits, and gives it the share of its tenant.
func (l *claimer) addLimits(limited *dispatch.Lane, lane sqlstore.Lane) {
	l.limitCache.addLimits(limited, lane)
	limited.Share = l.fair.Share(lane.LaneKey)
}

// noteShares records what tenants got of the starts that they share, and among which
// lanes the claim has chosen. It does so before the commit, so that the next claim of the
// same transaction knows: what a commit that fails has counted is forgotten in a minute.
func (l *claimer) noteShares(solo bool, lanes []*dispatch.Lane, jobs []*fairlead.Job) []*fairlead.Job {
	l.fair.Close(solo, lanes, jobs)
	return jobs
}
