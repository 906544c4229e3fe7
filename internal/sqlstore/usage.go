package sqlstore

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
)

// StartsBucket is the part of a UsageWindow whose starts are kept in one row.
const StartsBucket = 10 * time.Second

// EveryTenant is the limit of a filter for all of them.
const EveryTenant = math.MaxInt32

// Census gathers the usage of tenants.
type Census struct {
	Now     time.Time
	tenants map[string]*fairlead.Usage
	all     fairlead.Usage
}

// NewCensus begins with tenants that have nothing yet.
func NewCensus(now time.Time, tenants []fairlead.Tenant) *Census {
	c := &Census{Now: now, tenants: map[string]*fairlead.Usage{}}
	for _, tenant := range tenants {
		c.of(tenant.Name)
	}
	return c
}

func (c *Census) of(tenant string) *fairlead.Usage {
	usage := c.tenants[tenant]
	if usage == nil {
		usage = &fairlead.Usage{Tenant: tenant}
		c.tenants[tenant] = usage
	}
	return usage
}

// Count adds jobs of a lane that are in a state, ready ones with the first of
// their acceptable starts.
func (c *Census) Count(lane LaneKey, state fairlead.State, n int, startBy time.Time) {
	for _, usage := range []*fairlead.Usage{&c.all, c.of(lane.Tenant)} {
		switch state {
		case fairlead.Scheduled:
			usage.Scheduled += n
		case fairlead.Parked:
			usage.Parked += n
		case fairlead.Ready:
			usage.Ready += n
			usage.OldestWait = max(usage.OldestWait, c.Now.Sub(startBy))
		case fairlead.Running:
			usage.Running += n
		case fairlead.Waiting:
			usage.Waiting += n
		}
	}
}

// Starts adds what a tenant has started within the window.
func (c *Census) Starts(starts fairlead.Starts) {
	for _, usage := range []*fairlead.Usage{&c.all, c.of(starts.Tenant)} {
		usage.Started += float64(starts.Count)
		usage.Missed += starts.Missed
	}
}

// Limits adds what bounds tenants and all together.
func (c *Census) Limits(limits []fairlead.LimitUse) {
	for _, limit := range limits {
		var usage *fairlead.Usage
		switch limit.Scope {
		case fairlead.LimitGlobal:
			usage = &c.all
		case fairlead.LimitTenant:
			usage = c.of(limit.Name)
		default:
			continue
		}
		usage.MaxRunning, usage.MinRunning, usage.Rate = limit.MaxRunning, limit.MinRunning, limit.Rate
	}
}

// Usages lists all together and then each tenant.
func (c *Census) Usages() []fairlead.Usage {
	list := []fairlead.Usage{c.all}
	for _, usage := range slices.SortedFunc(maps.Values(c.tenants), func(a, b *fairlead.Usage) int { return cmp.Compare(a.Tenant, b.Tenant) }) {
		list = append(list, *usage)
	}
	for i := range list {
		list[i].Started /= fairlead.UsageWindow.Seconds()
	}
	return list
}
