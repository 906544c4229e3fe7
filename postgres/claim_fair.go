package postgres

import (
	"slices"
	"time"
)

// weigh takes the lanes that tenants share by weight out of the line: the claim considers
// all of them, because which of them is first does not follow from their jobs.
func (l *limitedClaim) weigh() {
	if l.fair == nil {
		return
	}
	now := time.Now()
	l.line = slices.DeleteFunc(l.line, func(c candidate) bool {
		if c.open.fair {
			l.busy = append(l.busy, l.resume(c, now))
		}
		return c.open.fair
	})
	l.weighed = len(l.busy)
}

// noteShares records what tenants got of the starts that they share.
func (l *limitedClaim) noteShares(before int) {
	l.fair.Close(l.claim.Solo, l.lanes, l.jobs[before:])
}
