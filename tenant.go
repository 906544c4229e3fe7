package fairlead

import (
	"math"
	"time"
)

// Tenant is for whom jobs run, with what they may use together. A tenant that
// was never declared works too: nothing of its own bounds it.
type Tenant struct {
	Name   string
	Parent string // a declared tenant whose cap and rate hold for these jobs as well; empty: none

	MaxRunning int     // jobs that run or await a callback at once; zero: no cap
	MinRunning int     // as many as it is guaranteed: free slots are left to it while it has ready jobs
	Rate       float64 // starts per second; zero: no limit
	Burst      int     // starts that may come at once after a pause; zero: those of a tenth of a second, at least one
	MaxPending int     // jobs that are scheduled, ready or parked; Enqueue beyond it fails with ErrLimit; zero: no bound
	Weight     int     // its share of the starts beside others, where Limit.Order is OrderFair; a parent's is that of its children together; zero counts as one
	Paused     bool    // none of its jobs starts
	Labels     map[string]string

	// Where jobs of the kind "external" are sent to be run, and where notices go that a
	// job of any kind has failed for good or timed out. Empty: nowhere.
	StartURL   string
	FailURL    string
	TimeoutURL string

	Version   int64     // grows with each change; set by the store
	CreatedAt time.Time // set by the store
	UpdatedAt time.Time // set by the store
}

// Bounds of what limits may say.
const (
	MaxCap  = math.MaxInt32
	MaxRate = 1e6 // starts per second

	maxLabels = 64
	maxURL    = 2000
)

// NormalizeTenant fills in the defaults of a tenant about to be stored, and
// returns an *InvalidError that names every field that cannot be accepted.
func NormalizeTenant(t *Tenant) error {
	var c complaints
	c.Addressed("name", t.Name, MaxName)
	if t.Parent != "" {
		c.Name("parent", t.Parent, MaxName)
	}
	if t.Parent != "" && t.Parent == t.Name {
		c.Refuse("parent", "is the tenant itself; name another, or none")
	}
	c.Count("max_running", t.MaxRunning, MaxCap)
	c.Count("min_running", t.MinRunning, MaxCap)
	if t.MaxRunning > 0 && t.MinRunning > t.MaxRunning {
		c.Refuse("min_running", "is %d, more than max_running (%d); lower it or raise the cap", t.MinRunning, t.MaxRunning)
	}
	c.Count("max_pending", t.MaxPending, MaxCap)
	c.Count("weight", t.Weight, MaxCap)
	c.Rate(t.Rate, MaxRate, &t.Burst, MaxCap)
	c.URL("start_url", t.StartURL)
	c.URL("fail_url", t.FailURL)
	c.URL("timeout_url", t.TimeoutURL)
	if len(t.Labels) > maxLabels {
		c.Refuse("labels", "has %d entries; at most %d are allowed", len(t.Labels), maxLabels)
	}
	for key, value := range t.Labels {
		c.Name("labels", key, MaxName)
		if len(value) > MaxKey {
			c.Refuse("labels", "%q has %d bytes; at most %d are allowed", key, len(value), MaxKey)
		}
		c.Text("labels", value)
	}
	return Invalid(c.Found...)
}

// TenantFilter chooses declared tenants.
type TenantFilter struct {
	Names []string // nil: all
	After string   // only names behind this one: the last of the page before
	Limit int      // zero means 100
}

// Limit is what of the tenant bounds its running jobs.
func (t *Tenant) Limit() Limit {
	return Limit{Scope: LimitTenant, Name: t.Name, MaxRunning: t.MaxRunning, Rate: t.Rate, Burst: t.Burst}
}

// Page is how many tenants are asked for.
func (f TenantFilter) Page() int {
	if f.Limit <= 0 {
		return DefaultPage
	}
	return f.Limit
}
