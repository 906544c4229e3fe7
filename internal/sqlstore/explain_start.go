package sqlstore

import (
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/dispatch"
)

// Line holds the number of ready jobs ahead of a job in each lane.
type Line map[LaneKey]int

// total returns the number of jobs in all lanes, at most MaxAhead.
func (l Line) total() int {
	total := 0
	for _, jobs := range l {
		total += jobs
	}
	return min(total, fairlead.MaxAhead)
}

// of returns the part of the line that belongs to a tenant.
func (l Line) of(tenant string) Line {
	own := Line{}
	for lane, jobs := range l {
		if lane.Tenant == tenant {
			own[lane] = jobs
		}
	}
	return own
}

// under returns the number of jobs in the line that count against a limit.
func (l Line) under(id int32, rules *Rules) int {
	held := 0
	for lane, jobs := range l {
		if slices.Contains(rules.Of(lane), id) {
			held += jobs
		}
	}
	return held
}

// estimate sets the estimated start: the latest time at which one of the obstacles ends, if
// all those times are known. It sets none if there are more jobs ahead than were counted.
func (e *explaining) estimate() {
	if e.Explanation.Ahead >= fairlead.MaxAhead {
		return
	}
	start := e.Now
	for _, o := range e.Obstacles {
		until, known := e.ends(o)
		if !known {
			return
		}
		if until.After(start) {
			start = until
		}
	}
	for _, id := range e.Rules.Of(e.lane) {
		limit := e.Limits[id]
		if limit == nil { // just removed
			continue
		}
		wait, known := e.turn(limit)
		if !known {
			return
		}
		if until := e.Now.Add(wait); until.After(start) {
			start = until
		}
	}
	e.Start = start
}

// ends returns the time at which an obstacle ends, as far as the obstacle alone determines
// it. Limits, reached or not, are left to turn.
func (e *explaining) ends(o fairlead.Obstacle) (until time.Time, known bool) {
	jobs := 1
	switch o.Code {
	case fairlead.AtCap, fairlead.OverRate:
		return e.Now, true
	case fairlead.InLine:
		paced, _ := e.paced()
		if jobs = e.Explanation.Ahead - paced; jobs <= 0 {
			return e.Now, true
		}
	case fairlead.NoSlot:
	default:
		return o.Until, !o.Until.IsZero()
	}
	wait, known := e.startsOf(jobs, o.Scope, o.Name)
	return e.Now.Add(wait), known
}

// paced returns the number of jobs ahead that start at the pace of an exhausted rate limit,
// and whether there is such a limit. The speed of those starts is known without counting
// starts.
func (e *explaining) paced() (jobs int, found bool) {
	for _, id := range e.Rules.Of(e.lane) {
		if limit := e.Limits[id]; limit != nil && limit.NextToken() > 0 {
			jobs, found = max(jobs, e.Facts.Ahead.under(id, e.Rules)), true
		}
	}
	return jobs, found
}

// turn returns the time until a limit lets the job start after the jobs ahead that the
// limit also holds. While a rate is exhausted, those jobs do not wait for a cap with room.
func (e *explaining) turn(limit *dispatch.Limit) (wait time.Duration, known bool) {
	before := e.Facts.Ahead.under(limit.ID, e.Rules)
	wait = limit.TokenAfter(before)
	_, paced := e.paced()
	if lack := before + 1 + limit.Used - limit.Cap; limit.Full() || limit.Cap > 0 && lack > 0 && !paced {
		rule := e.Rules.Quotas[limit.ID].Rule
		places, known := e.startsOf(lack, rule.Scope, rule.Name)
		return max(wait, places), known
	}
	return wait, true
}

// startsOf returns the time to start a number of jobs at the recent rate of starts. Starts
// are counted per tenant, so the time is unknown for a queue or a kind.
func (e *explaining) startsOf(jobs int, scope fairlead.LimitScope, name string) (wait time.Duration, known bool) {
	if scope == fairlead.LimitQueue || scope == fairlead.LimitKind {
		return 0, false
	}
	started := 0
	for _, starts := range e.Starts {
		if scope != fairlead.LimitTenant || name == starts.Tenant || name == e.Rules.parents[starts.Tenant] {
			started += starts.Count
		}
	}
	if started == 0 || e.State == fairlead.Parked {
		return 0, false
	}
	return fairlead.UsageWindow * time.Duration(jobs) / time.Duration(started), true
}
