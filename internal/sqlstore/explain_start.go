package sqlstore

import (
	"fmt"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/dispatch"
)

// JobsAhead holds the number of ready jobs ahead of a job in each lane.
type JobsAhead map[LaneKey]int

// total returns the number of jobs in all lanes, at most MaxAhead.
func (l JobsAhead) total() int {
	total := 0
	for _, jobs := range l {
		total += jobs
	}
	return min(total, fairlead.MaxAhead)
}

// of returns the jobs of one tenant.
func (l JobsAhead) of(tenant string) JobsAhead {
	own := JobsAhead{}
	for lane, jobs := range l {
		if lane.Tenant == tenant {
			own[lane] = jobs
		}
	}
	return own
}

// under returns the number of jobs that count against a limit.
func (l JobsAhead) under(id int32, config *LimitConfig) int {
	held := 0
	for lane, jobs := range l {
		if slices.Contains(config.Of(lane), id) {
			held += jobs
		}
	}
	return held
}

// estimate sets the estimated start: the latest time at which one of the obstacles ends, if
// all those times are known. Otherwise it sets the reason why there is no estimate.
func (e *explaining) estimate() {
	if e.Explanation.Ahead >= fairlead.MaxAhead {
		e.unknown(fairlead.NoEstimate{Reason: fairlead.LongLine}, "too many jobs are ahead of it")
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
	for _, id := range e.LimitConfig.Of(e.lane) {
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

// unknown sets the reason why the start cannot be estimated.
func (e *explaining) unknown(why fairlead.NoEstimate, format string, args ...any) {
	why.Text = fmt.Sprintf(format, args...)
	e.NoEstimate = &why
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
		if o.Until.IsZero() {
			e.noEnd()
		}
		return o.Until, !o.Until.IsZero()
	}
	wait, known := e.startsOf(jobs, e.Newer.total(), o.Scope, o.Name)
	return e.Now.Add(wait), known
}

func (e *explaining) noEnd() {
	e.unknown(fairlead.NoEstimate{Reason: fairlead.NoEnd}, "the obstacles have no known end")
}

// paced returns the number of jobs ahead that start at the pace of an exhausted rate limit,
// and whether there is such a limit. The speed of those starts is known without counting
// starts.
func (e *explaining) paced() (jobs int, found bool) {
	for _, id := range e.LimitConfig.Of(e.lane) {
		if limit := e.Limits[id]; limit != nil && limit.NextToken() > 0 {
			jobs, found = max(jobs, e.Facts.Ahead.under(id, e.LimitConfig)), true
		}
	}
	return jobs, found
}

// turn returns the time until a limit lets the job start after the jobs ahead that the
// limit also holds. While a rate is exhausted, those jobs do not wait for a cap with room.
func (e *explaining) turn(limit *dispatch.Limit) (wait time.Duration, known bool) {
	before, newer := e.Facts.Ahead.under(limit.ID, e.LimitConfig), e.Newer.under(limit.ID, e.LimitConfig)
	if limit.NextToken() > 0 {
		left, known := e.drain(int(limit.Rate*fairlead.UsageWindow.Seconds()), newer)
		if !known {
			return 0, false
		}
		wait = limit.TokenAfter(int(float64(before) / left))
	} else {
		wait = limit.TokenAfter(before)
	}
	_, paced := e.paced()
	if lack := before + 1 + limit.Used - limit.Cap; limit.Full() || limit.Cap > 0 && lack > 0 && !paced {
		declared := e.LimitConfig.ByID[limit.ID].Limit
		places, known := e.startsOf(lack, newer, declared.Scope, declared.Name)
		return max(wait, places), known
	}
	return wait, true
}

// startsOf returns the time to start a number of jobs at the recent rate of starts, less the
// starts that newer jobs take. Starts are counted per tenant, so the time is unknown for a
// queue or a kind.
func (e *explaining) startsOf(jobs, newer int, scope fairlead.LimitScope, name string) (wait time.Duration, known bool) {
	if scope == fairlead.LimitQueue || scope == fairlead.LimitKind || e.State == fairlead.Parked {
		e.noEnd()
		return 0, false
	}
	started := 0
	for _, starts := range e.Starts {
		if scope != fairlead.LimitTenant || name == starts.Tenant || name == e.LimitConfig.parents[starts.Tenant] {
			started += starts.Count
		}
	}
	if started == 0 {
		e.unknown(fairlead.NoEstimate{Reason: fairlead.NoStarts}, "no job was started in the last minute")
		return 0, false
	}
	left, known := e.drain(started, newer)
	return time.Duration(float64(fairlead.UsageWindow) * float64(jobs) / float64(started) / left), known
}

// mostOvertaken is the largest share of starts taken by newer jobs at which a start can be
// estimated. Above it, a few jobs more or less would change the estimate many times over.
const mostOvertaken = 0.8

// drain returns the share of starts that newer jobs leave to the older ones.
func (e *explaining) drain(started, newer int) (left float64, known bool) {
	taken := float64(newer) / float64(max(started, 1))
	if newer > 0 && taken >= mostOvertaken {
		e.unknown(fairlead.NoEstimate{Reason: fairlead.Overtaken, Newer: newer, Started: started},
			"newer jobs overtake it: in the last minute, %d arrived that start before it, and %d jobs can start per minute", newer, started)
		return 1, false
	}
	return 1 - taken, true
}
