package sqlstore

import (
	"cmp"
	"slices"

	"github.com/fairlead-io/fairlead"
)

// compare returns the forecast that compares two prospects.
func (s *scene) compare(before, after *prospect, question fairlead.WhatIf) fairlead.Forecast {
	told := func(tenant string) bool { return question.Tenants == nil || slices.Contains(question.Tenants, tenant) }
	f := fairlead.Forecast{At: s.now(), Slots: question.Slots, Idle: s.idle(), Before: s.outlook(before, told), After: s.outlook(after, told)}
	for _, lane := range s.lanes {
		if !told(lane.Tenant) {
			continue
		}
		wait := fairlead.ForecastWait{Queue: lane.Queue, Tenant: lane.Tenant, Kind: lane.Kind, Before: s.wait(lane, before), After: s.wait(lane, after)}
		switch wait.Effect = effectOf(wait.Before, wait.After); wait.Effect {
		case fairlead.GetsLater:
			f.Later++
		case fairlead.GetsSooner:
			f.Sooner++
		case fairlead.NoEffect:
		}
		if wait.Effect != fairlead.NoEffect || wait.Before.Starts+wait.After.Starts > 0 {
			f.Waits = append(f.Waits, wait)
		}
	}
	slices.SortFunc(f.Waits, byEffect)
	f.Waits = f.Waits[:min(len(f.Waits), fairlead.MaxWaits)]
	f.Text = s.gates(question)
	return f
}

// outlook returns the jobs of a prospect for the reported tenants.
func (s *scene) outlook(p *prospect, told func(tenant string) bool) fairlead.Outlook {
	names := make(map[int32]LaneKey, len(p.starts))
	for _, lane := range s.lanes {
		if p.starts[lane.ID].jobs > 0 {
			names[lane.ID] = lane.LaneKey
		}
	}
	var out fairlead.Outlook
	for _, pick := range p.picks {
		lane := names[pick.Lane.ID]
		if !told(lane.Tenant) {
			continue
		}
		out.Starts = append(out.Starts, fairlead.ForecastStart{
			Job: pick.ID, Queue: lane.Queue, Tenant: lane.Tenant, Kind: lane.Kind, Priority: -int(pick.Turn), StartBy: Time(pick.StartBy),
		})
	}
	if p.token > 0 {
		out.Token = s.now().Add(p.token)
	}
	return out
}

// wait returns the outlook for the jobs of a lane.
func (s *scene) wait(lane *forecastLane, p *prospect) fairlead.WaitOutlook {
	starts := p.starts[lane.ID]
	out := fairlead.WaitOutlook{Starts: starts.jobs, First: starts.first}
	if lane.all && starts.jobs == len(lane.keys) {
		return out // all of them start
	}
	e := explaining{
		Facts: Facts{Now: s.now(), Job: &fairlead.Job{Queue: lane.Queue, Tenant: lane.Tenant, Kind: lane.Kind}, LimitConfig: p.config, Limits: p.limits},
		lane:  lane.LaneKey,
	}
	e.paused()
	e.limited()
	if !s.serves(lane.LaneKey) {
		e.Nodes = s.others
		e.unserved()
	}
	out.Held = e.Obstacles
	return out
}

// effectOf returns the effect of a change on a lane. A lane that does not move either way,
// because it is paused or no node serves it, is not affected: a further obstacle delays
// none of its jobs.
func effectOf(before, after fairlead.WaitOutlook) fairlead.Effect {
	stoppedBefore, stoppedAfter := stopped(before), stopped(after)
	if stoppedBefore && stoppedAfter {
		return fairlead.NoEffect
	}
	change := cmp.Compare(after.Starts, before.Starts)
	if change == 0 && after.Starts > 0 {
		change = cmp.Compare(before.First, after.First)
	}
	if change == 0 && stoppedBefore != stoppedAfter {
		change = 1
		if stoppedAfter {
			change = -1
		}
	}
	if change == 0 {
		change = cmp.Compare(len(before.HeldBeyond(after)), len(after.HeldBeyond(before)))
	}
	switch {
	case change < 0:
		return fairlead.GetsLater
	case change > 0:
		return fairlead.GetsSooner
	}
	return fairlead.NoEffect
}

// stopped reports whether a lane waits until a user resumes it or starts a node.
func stopped(w fairlead.WaitOutlook) bool {
	return slices.ContainsFunc(w.Held, func(o fairlead.Obstacle) bool {
		return o.Code == fairlead.IsPaused || o.Code == fairlead.NoNode
	})
}

// byEffect sorts waits: lanes whose jobs start later come first, then those whose jobs
// start earlier, by the number of starts lost or gained.
func byEffect(a, b fairlead.ForecastWait) int {
	moved := func(w fairlead.ForecastWait) int {
		return max(w.After.Starts-w.Before.Starts, w.Before.Starts-w.After.Starts)
	}
	return cmp.Or(cmp.Compare(rank(a.Effect), rank(b.Effect)), cmp.Compare(moved(b), moved(a)),
		cmp.Compare(a.Queue, b.Queue), cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.Kind, b.Kind))
}

func rank(effect fairlead.Effect) int {
	switch effect {
	case fairlead.GetsLater:
		return 0
	case fairlead.GetsSooner:
		return 1
	case fairlead.NoEffect:
	}
	return 2
}
