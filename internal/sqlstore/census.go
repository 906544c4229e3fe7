package sqlstore

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// census accumulates the usage of tenants, queues and kinds.
type census struct {
	now     time.Time
	all     fairlead.Usage
	tenants usages
	queues  usages
	kinds   usages
	lanes   map[LaneKey]*fairlead.LaneUsage

	children map[string][]string // parent → names of its children, in order
}

type usages map[string]*fairlead.Usage

// newCensus returns a census with an empty entry for each tenant.
func newCensus(now time.Time, tenants []fairlead.Tenant) *census {
	c := &census{now: now, tenants: usages{}, queues: usages{}, kinds: usages{}, lanes: map[LaneKey]*fairlead.LaneUsage{}, children: map[string][]string{}}
	for i := range tenants { // tenants are sorted
		tenant := &tenants[i]
		c.tenants.of(tenant.Name)
		if tenant.Parent != "" {
			c.children[tenant.Parent] = append(c.children[tenant.Parent], tenant.Name)
		}
	}
	return c
}

func (u usages) of(name string) *fairlead.Usage {
	usage := u[name]
	if usage == nil {
		usage = &fairlead.Usage{Name: name}
		u[name] = usage
	}
	return usage
}

// count adds n jobs of a lane in one state. For ready jobs, startBy is their earliest
// acceptable start.
func (c *census) count(lane LaneKey, state fairlead.State, n int, startBy time.Time) {
	c.countLane(lane, state, n)
	for _, usage := range []*fairlead.Usage{&c.all, c.tenants.of(lane.Tenant), c.queues.of(lane.Queue), c.kinds.of(lane.Kind)} {
		switch state {
		case fairlead.Scheduled:
			usage.Scheduled += n
		case fairlead.Parked:
			usage.Parked += n
		case fairlead.Ready:
			usage.Ready += n
			usage.OldestWait = max(usage.OldestWait, c.now.Sub(startBy))
		case fairlead.Running:
			usage.Running += n
		case fairlead.Waiting:
			usage.Waiting += n
		}
	}
}

// countLane adds jobs of a lane to its own numbers.
func (c *census) countLane(lane LaneKey, state fairlead.State, n int) {
	usage := c.lanes[lane]
	if usage == nil {
		usage = &fairlead.LaneUsage{Queue: lane.Queue, Tenant: lane.Tenant, Kind: lane.Kind}
		c.lanes[lane] = usage
	}
	switch state {
	case fairlead.Scheduled:
		usage.Scheduled += n
	case fairlead.Parked:
		usage.Parked += n
	case fairlead.Ready:
		usage.Ready += n
	case fairlead.Running:
		usage.Running += n
	case fairlead.Waiting:
		usage.Waiting += n
	}
}

// starts adds the starts of a tenant within the window.
func (c *census) starts(of driver.Starts) {
	for _, usage := range []*fairlead.Usage{&c.all, c.tenants.of(of.Tenant)} {
		usage.Started += float64(of.Count)
		usage.Missed += of.Missed
	}
}

// limits adds the limits of tenants and the global limits.
func (c *census) limits(limits []fairlead.LimitUse) {
	for _, limit := range limits {
		var usage *fairlead.Usage
		switch limit.Scope {
		case fairlead.LimitGlobal:
			usage = &c.all
		case fairlead.LimitTenant:
			usage = c.tenants.of(limit.Name)
		default:
			continue
		}
		usage.MaxRunning, usage.MinRunning, usage.Rate = limit.MaxRunning, limit.MinRunning, limit.Rate
	}
}

// report returns the accumulated usage.
func (c *census) report() fairlead.UsageReport {
	report := fairlead.UsageReport{All: c.all, Tenants: c.tenants.list(), Queues: c.queues.list(), Kinds: c.kinds.list(), Lanes: c.laneList()}
	report.All.Started /= fairlead.UsageWindow.Seconds()
	for i := range report.Tenants {
		report.Tenants[i].Started /= fairlead.UsageWindow.Seconds()
	}
	c.addFamilies(report.Tenants)
	return report
}

// list returns the usages sorted by name.
func (u usages) list() []fairlead.Usage {
	var list []fairlead.Usage
	for _, usage := range slices.SortedFunc(maps.Values(u), func(a, b *fairlead.Usage) int { return cmp.Compare(a.Name, b.Name) }) {
		list = append(list, *usage)
	}
	return list
}

// laneList returns the lanes by queue, tenant and kind.
func (c *census) laneList() []fairlead.LaneUsage {
	list := make([]fairlead.LaneUsage, 0, len(c.lanes))
	for _, usage := range c.lanes {
		list = append(list, *usage)
	}
	slices.SortFunc(list, func(a, b fairlead.LaneUsage) int {
		return cmp.Or(cmp.Compare(a.Queue, b.Queue), cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.Kind, b.Kind))
	})
	return list
}

// addFamilies sets Family for tenants that have children.
func (c *census) addFamilies(tenants []fairlead.Usage) {
	byName := make(map[string]fairlead.Usage, len(tenants))
	for _, usage := range tenants {
		byName[usage.Name] = usage
	}
	for i := range tenants {
		children := c.children[tenants[i].Name]
		if len(children) == 0 {
			continue
		}
		family := &fairlead.FamilyUsage{Children: children}
		addMember(family, tenants[i])
		for _, child := range children {
			addMember(family, byName[child])
		}
		tenants[i].Family = family
	}
}

// addMember adds the usage of one tenant to its family.
func addMember(f *fairlead.FamilyUsage, u fairlead.Usage) {
	f.Scheduled += u.Scheduled
	f.Parked += u.Parked
	f.Ready += u.Ready
	f.Running += u.Running
	f.Waiting += u.Waiting
	f.Started += u.Started
	f.Missed += u.Missed
	f.OldestWait = max(f.OldestWait, u.OldestWait)
}
