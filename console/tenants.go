package console

import (
	"cmp"
	"slices"
	"strings"

	"connectrpc.com/connect"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// tenantsPage shows the usage and limits of tenants.
type tenantsPage struct {
	Tenants []tenantLine
	Limits  []limitLine
	Next    string // next page
	All     int
}

// tenantLine is a tenant with its jobs, by state.
type tenantLine struct {
	*fairleadv1.Usage
	Counts []stateCount
}

// limitLine is a global limit, or that of a queue or a kind.
type limitLine struct {
	*fairleadv1.Limit
	Running count
}

// tenantsAtOnce is the number of tenants on a page.
const tenantsAtOnce = 50

// loadTenants loads tenants by name, starting after the parameter page. A single response
// contains the figures of all tenants.
func loadTenants(v *visit) (any, error) {
	if err := v.only("page"); err != nil {
		return nil, err
	}
	stats, err := v.system.GetStats(v.ctx, &fairleadv1.GetStatsRequest{})
	if err != nil {
		return nil, err
	}
	page := &tenantsPage{All: len(stats.GetTenants())}
	byName := slices.SortedFunc(slices.Values(stats.GetTenants()), func(a, b *fairleadv1.Usage) int { return cmp.Compare(a.GetTenant(), b.GetTenant()) })
	for _, usage := range byName {
		if v.Get("page") != "" && usage.GetTenant() <= v.Get("page") {
			continue
		}
		if len(page.Tenants) == tenantsAtOnce {
			page.Next = page.Tenants[tenantsAtOnce-1].GetTenant()
			break
		}
		page.Tenants = append(page.Tenants, tenantLine{Usage: usage, Counts: v.tenantCounts(usage)})
	}
	page.Limits, err = v.limitLines()
	return page, err
}

// limitLines returns the limits that do not belong to tenants. Only viewers of all tenants
// see them.
func (v *visit) limitLines() (lines []limitLine, err error) {
	if v.Bound() {
		return nil, nil
	}
	limits, err := v.limits.ListLimits(v.ctx, &fairleadv1.ListLimitsRequest{})
	if err != nil {
		return nil, err
	}
	for _, limit := range limits.GetItems() {
		if !strings.HasPrefix(limit.GetScope(), "tenant:") && len(lines) < maxRows-tenantsAtOnce {
			lines = append(lines, limitLine{Limit: limit, Running: v.limitUse(limit)})
		}
	}
	return lines, nil
}

// limitUse returns the number of jobs that count against a limit: running jobs and those
// that wait for an answer.
func (v *visit) limitUse(limit *fairleadv1.Limit) count {
	scope, name, _ := strings.Cut(limit.GetScope(), ":")
	if scope == "global" {
		name = ""
	}
	href := v.Href("/jobs", "state", "running", "state", "waiting", scope, name)
	return count{N: int64(limit.GetRunning()), Href: href}
}

func (v *visit) tenantCounts(usage *fairleadv1.Usage) (all []stateCount) {
	for _, part := range []struct {
		state string
		n     int32
	}{{"ready", usage.GetReady()}, {"running", usage.GetRunning()}, {"waiting", usage.GetWaiting()}, {"parked", usage.GetParked()}, {"scheduled", usage.GetScheduled()}} {
		all = append(all, stateCount{part.state, count{N: int64(part.n), Href: v.Href("/jobs", "state", part.state, "tenant", usage.GetTenant())}})
	}
	return all
}

// tenantPage shows one tenant.
type tenantPage struct {
	Usage    *fairleadv1.Usage
	Declared *fairleadv1.Tenant // nil = not declared
	Counts   []stateCount
	Figures  string // data of the chart of starts
	Series   string
}

func loadTenant(v *visit) (any, error) {
	if err := v.only(); err != nil {
		return nil, err
	}
	name := v.Value("name")
	usage, err := v.tenants.GetTenantStats(v.ctx, &fairleadv1.GetTenantRequest{Name: name})
	if connect.CodeOf(err) == connect.CodeNotFound {
		usage, err = v.idleTenant(name, err)
	}
	if err != nil {
		return nil, err
	}
	page := &tenantPage{Usage: usage, Counts: v.tenantCounts(usage)}
	declared, err := v.tenants.GetTenant(v.ctx, &fairleadv1.GetTenantRequest{Name: name})
	if err == nil {
		page.Declared = declared
	} else if connect.CodeOf(err) != connect.CodeNotFound {
		return nil, err
	}
	page.Figures, page.Series, err = v.watchedThroughput("tenant\x00"+name, usage)
	return page, err
}

// idleTenant returns the usage of an undeclared tenant without live jobs, because finished
// jobs still link to its page. It returns notFound if the tenant has no jobs at all.
func (v *visit) idleTenant(name string, notFound error) (*fairleadv1.Usage, error) {
	jobs, err := v.jobs.ListJobs(v.ctx, &fairleadv1.ListJobsRequest{Tenant: []string{name}, PageSize: 1})
	if err != nil {
		return nil, err
	}
	if len(jobs.GetItems()) == 0 {
		return nil, notFound
	}
	return &fairleadv1.Usage{Tenant: name}, nil
}

// Paused reports whether the tenant is paused.
func (p *tenantPage) Paused() bool { return p.Usage.GetPaused() || p.Declared.GetPaused() }

// findTenants finds tenants by name: tenants with live jobs, and declared tenants.
func findTenants(v *visit, f *finding) error {
	add := func(put func(title, what, href string), name string) {
		put(name, v.T("tenant"), v.To("/tenants", name))
	}
	exact, err := v.tenants.GetTenant(v.ctx, &fairleadv1.GetTenantRequest{Name: f.query})
	if err := found(err); err != nil {
		return err
	}
	if exact != nil {
		add(f.exactly, exact.GetName())
	}
	stats, err := v.system.GetStats(v.ctx, &fairleadv1.GetStatsRequest{})
	if err := found(err); err != nil {
		return err
	}
	for _, usage := range stats.GetTenants() {
		add(f.named, usage.GetTenant())
	}
	declared, err := v.tenants.ListTenants(v.ctx, &fairleadv1.ListTenantsRequest{PageSize: findAmong})
	for _, tenant := range declared.GetItems() {
		add(f.named, tenant.GetName())
	}
	return found(err)
}

// findLimits finds limits by their scope. Only viewers with access to all tenants see them.
func findLimits(v *visit, f *finding) error {
	limits, err := v.limits.ListLimits(v.ctx, &fairleadv1.ListLimitsRequest{})
	for _, limit := range limits.GetItems() {
		if !strings.HasPrefix(limit.GetScope(), "tenant:") { // set on the page of the tenant
			f.named(limit.GetScope(), v.T("limit"), v.Href("/tenants")+"#limit-"+v.Escape(limit.GetScope()))
		}
	}
	return found(err)
}
