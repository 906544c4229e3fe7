package postgres

import (
	"slices"
	"time"

	"github.com/fairlead-io/fairlead/internal/dispatch"
)

// weigh moves the lanes of tenants that share starts by weight from the line to busy.
//
// The line is sorted by the first jobs of the lanes. Where tenants share starts, the next lane
// depends on the past starts of the tenants instead, so the claim must consider all of these
// lanes. If there are very many, it considers first those whose tenants have had least. Rests
// stand for the others in the choice, and dispatch asks for a rest if the choice depends on it.
func (l *limitedClaim) weigh() {
	if l.fair == nil {
		return
	}
	l.line = slices.DeleteFunc(l.line, func(c candidate) bool {
		if c.open.fair {
			c.share = l.fair.Share(c.open.LaneKey)
			l.unweighed = append(l.unweighed, c)
		}
		return c.open.fair
	})
	if most := max(2*(l.left+l.guaranteed), manyLanes); len(l.unweighed) > most {
		slices.SortFunc(l.unweighed, byShare)
		l.weighFirst(most)
		return
	}
	l.weighFirst(len(l.unweighed))
}

// byShare orders candidates: lanes of tenants with a minimum first, then by share.
func byShare(a, b candidate) int {
	if a.promised != b.promised {
		return a.compare(&b)
	}
	return dispatch.ByShare(a.share, a.from, b.share, b.from)
}

// weighFirst considers the first of the lanes that tenants share.
func (l *limitedClaim) weighFirst(n int) {
	now := time.Now()
	l.rests = dispatch.Rests{}
	for _, c := range l.unweighed[:n] {
		l.busy = append(l.busy, l.resume(c, now))
		l.rests.Read(c.share)
	}
	l.weighed, l.unweighed = len(l.busy), l.unweighed[n:]
	for _, c := range l.unweighed {
		l.rests.Add(c.share, c.from)
	}
}

// weighRest considers the lanes that rests stand for, after all lanes that were considered
// before. If the transaction is repeated, it considers all of these at once.
func (l *limitedClaim) weighRest() []*busyLane {
	l.weighFirst(len(l.unweighed))
	return l.nextLot(len(l.busy) - l.considered)
}

// noteShares records what tenants got of the starts that they share.
func (l *limitedClaim) noteShares(before int) {
	l.fair.Close(l.claim.Solo, l.lanes, l.jobs[before:])
}
