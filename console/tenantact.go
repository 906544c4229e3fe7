package console

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"connectrpc.com/connect"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

var tenantActions = []action{
	{name: "tenant-edit", path: "/tenants/{name}/edit", Title: "Edit tenant", Button: "Save", Nav: "tenants", method: "UpdateTenant", load: loadTenantAct, do: saveTenant, whatIf: tenantWhatIf},
	{name: "tenant-new", path: "/new/tenant", Title: "New tenant", Button: "Save", Nav: "tenants", method: "CreateTenant", load: loadTenantAct, do: saveTenant, whatIf: tenantWhatIf},
	{name: "tenant-edit", path: "/tenants/{name}/what-if", Title: "What if", Button: "Preview", Nav: "tenants", method: "WhatIf", Ask: "UpdateTenant", load: loadTenantAct, do: saveTenant, whatIf: tenantWhatIf},
	{name: "tenant-delete", path: "/tenants/{name}/delete", Title: "Remove tenant", Nav: "tenants", method: "DeleteTenant", Grave: true, load: loadTenantRemoval, do: deleteTenant},
}

// loadTenantAct loads the tenant to edit, or an undeclared one.
func loadTenantAct(v *visit) (any, error) {
	name := v.Value("name")
	if name == "" {
		return &fairleadv1.Tenant{}, nil
	}
	tenant, err := v.tenants.GetTenant(v.ctx, &fairleadv1.GetTenantRequest{Name: name})
	if connect.CodeOf(err) == connect.CodeNotFound {
		return &fairleadv1.Tenant{Name: name}, nil
	}
	return tenant, err
}

// TenantFields returns the values of a tenant for its form.
func (v *visit) TenantFields(t *fairleadv1.Tenant) map[string]any {
	return map[string]any{
		"parent": t.GetParent(), "max_running": orEmpty(t.GetMaxRunning()), "min_running": orEmpty(t.GetMinRunning()), "weight": orEmpty(t.GetWeight()), "rate": orEmpty(t.GetRate()),
		"burst": orEmpty(t.GetBurst()), "max_pending": orEmpty(t.GetMaxPending()), "labels": labelLines(t.GetLabels()),
		"start_url": t.GetStartUrl(), "fail_url": t.GetFailUrl(), "timeout_url": t.GetTimeoutUrl(),
	}
}

// labelLines formats labels for a field, one per line.
func labelLines(labels map[string]string) string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		lines = append(lines, name+"="+labels[name])
	}
	return strings.Join(lines, "\n")
}

// labels returns a field with one label per line, as name=value.
func (p *parameters) labels(name string) map[string]string {
	labels := map[string]string{}
	for line := range strings.Lines(p.text(name)) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		label, value, found := strings.Cut(line, "=")
		if !found {
			p.refuse(name, p.v.T("must have one name=value pair per line"))
		}
		labels[strings.TrimSpace(label)] = strings.TrimSpace(value)
	}
	return labels
}

// typedTenant returns the tenant in the form. The version is that of the opened form: if
// two users edit the tenant, the second one gets an error.
func (v *visit) typedTenant() (*fairleadv1.Tenant, error) {
	f := v.fields()
	tenant := &fairleadv1.Tenant{
		Name: cmp.Or(v.Value("name"), f.text("name")), Parent: f.text("parent"), MaxRunning: f.integer("max_running"), MinRunning: f.integer("min_running"), Weight: f.integer("weight"), Rate: f.decimal("rate"),
		Burst: f.integer("burst"), MaxPending: f.integer("max_pending"), Labels: f.labels("labels"),
		StartUrl: f.text("start_url"), FailUrl: f.text("fail_url"), TimeoutUrl: f.text("timeout_url"),
		Version: f.number("version"),
	}
	if err := f.err(); err != nil || tenant.GetName() == "" {
		return tenant, err
	}
	paused, err := v.tenantPaused(tenant.GetName())
	tenant.Paused = paused // saving must not resume the tenant
	return tenant, err
}

// tenantPaused reports whether a tenant is paused now, declared or not.
func (v *visit) tenantPaused(name string) (bool, error) {
	usage, err := v.tenants.GetTenantStats(v.ctx, &fairleadv1.GetTenantRequest{Name: name})
	if connect.CodeOf(err) == connect.CodeNotFound {
		return false, nil
	}
	return usage.GetPaused(), err
}

// tenantWhatIf returns the change that would be saved.
func tenantWhatIf(v *visit) (*fairleadv1.WhatIfChange, error) {
	tenant, err := v.typedTenant()
	return &fairleadv1.WhatIfChange{Tenant: tenant}, err
}

// saveTenant declares a tenant, or changes its declaration.
func saveTenant(v *visit) (done, error) {
	tenant, err := v.typedTenant()
	if err != nil {
		return done{}, err
	}
	if tenant.GetVersion() == 0 {
		_, err = v.tenants.CreateTenant(v.ctx, tenant)
	} else {
		_, err = v.tenants.UpdateTenant(v.ctx, tenant)
	}
	return done{Notice: v.T("Tenant %s was saved.", tenant.GetName()), To: v.below("/tenants", tenant.GetName())}, err
}

// tenantRemoval is a tenant to be removed, with its unfinished jobs.
type tenantRemoval struct {
	Name       string
	Unfinished count
}

func loadTenantRemoval(v *visit) (any, error) {
	name := v.Value("name")
	found, err := v.jobs.CountJobs(v.ctx, &fairleadv1.CountJobsRequest{Tenant: []string{name}, State: unfinished})
	if err != nil {
		return nil, err
	}
	href := v.Href("/jobs", "tenant", name)
	for _, state := range unfinished {
		href += "&state=" + state
	}
	return &tenantRemoval{Name: name, Unfinished: count{N: int64(found.GetTotal()), More: found.GetMore(), Href: href}}, nil
}

// unfinished lists the states of jobs that have not ended.
var unfinished = []string{"scheduled", "parked", "ready", "running", "waiting"}

func deleteTenant(v *visit) (done, error) {
	name := v.Value("name")
	removed, err := v.tenants.DeleteTenant(v.ctx, &fairleadv1.DeleteTenantRequest{Name: name, Force: v.posted.Get("force") == "true"})
	return done{Notice: v.T("Tenant %s was removed; %s of its jobs were cancelled.", name, v.Num(removed.GetCancelledJobs())), To: "/tenants"}, err
}
