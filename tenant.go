package fairlead

import (
	"math"
	"time"
)

// Tenant is a customer, team or other party on whose behalf jobs run. It also sets the
// limits that these jobs share. A job may name a tenant that was never declared. An
// undeclared tenant has no limits of its own.
type Tenant struct {
	Name   string
	Parent string // declared tenant with a cap and rate that also apply to these jobs; default none

	MaxRunning int               // maximum number of jobs that run or await a callback at once; zero = unlimited
	MinRunning int               // guaranteed number of running jobs: free slots are reserved for it while it has ready jobs
	Rate       float64           // starts per second; zero = unlimited
	Burst      int               // starts allowed at once after a pause; default: a tenth of a second's worth, at least one
	MaxPending int               // maximum number of jobs that are scheduled, ready or parked, beyond which Enqueue returns ErrLimit; zero = unlimited
	Weight     int               // relative share of starts where Limit.Order is OrderFair; a parent's weight is that of its children together; default 1
	Paused     bool              // none of its jobs starts
	Labels     map[string]string // labels for the caller's own use

	// StartURL receives jobs of the kind "external", which run there. FailURL and
	// TimeoutURL receive a notice when a job of any kind has failed for good or has timed
	// out. Leave a URL empty to send nothing.
	StartURL   string
	FailURL    string
	TimeoutURL string

	Version   int64     // grows with each change; set by the store
	CreatedAt time.Time // set by the store
	UpdatedAt time.Time // set by the store
}

// Bounds of the values in limits.
const (
	MaxCap  = math.MaxInt32 // largest cap
	MaxRate = 1e6           // largest rate, in starts per second

	maxLabels = 64
	maxURL    = 2000
)

// NormalizeTenant fills in the defaults of a tenant that is about to be stored. It returns
// an *InvalidError that names every invalid field.
func NormalizeTenant(t *Tenant) error {
	var c complaints
	c.Addressed("name", t.Name, MaxName)
	if t.Parent != "" {
		c.Name("parent", t.Parent, MaxName)
	}
	if t.Parent != "" && t.Parent == t.Name {
		c.Refuse("parent", "is the tenant itself; specify another tenant or omit it")
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

// TenantFilter selects declared tenants.
type TenantFilter struct {
	Names []string // nil means all
	After string   // only names after this one: the last name of the previous page
	Limit int      // maximum number of tenants; zero means 100
}

// Limit returns the limit for the tenant's running jobs.
func (t *Tenant) Limit() Limit {
	return Limit{Scope: LimitTenant, Name: t.Name, MaxRunning: t.MaxRunning, Rate: t.Rate, Burst: t.Burst}
}

// Page returns the maximum number of tenants that the filter returns.
func (f TenantFilter) Page() int {
	if f.Limit <= 0 {
		return DefaultPage
	}
	return f.Limit
}
