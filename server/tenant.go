package server

import (
	"context"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/message"
	"github.com/fairlead-io/fairlead/server/internal/rest"
	"github.com/fairlead-io/fairlead/server/internal/scope"
)

// Tenants implements the TenantService.
type Tenants struct {
	client *fairlead.Client
}

// NewTenants returns a TenantService backed by store.
func NewTenants(store Store) *Tenants {
	return &Tenants{client: fairlead.NewClient(store)}
}

func tenantOf(in *fairleadv1.Tenant) fairlead.Tenant {
	return fairlead.Tenant{
		Name: in.GetName(), Parent: in.GetParent(), MaxRunning: int(in.GetMaxRunning()), MinRunning: int(in.GetMinRunning()),
		Rate: in.GetRate(), Burst: int(in.GetBurst()), MaxPending: int(in.GetMaxPending()), Weight: int(in.GetWeight()),
		Paused: in.GetPaused(), Labels: in.GetLabels(), StartURL: in.GetStartUrl(), FailURL: in.GetFailUrl(), TimeoutURL: in.GetTimeoutUrl(), Version: in.GetVersion(),
	}
}

func tenantTo(t fairlead.Tenant) *fairleadv1.Tenant {
	return &fairleadv1.Tenant{
		Name: t.Name, Parent: t.Parent, MaxRunning: int32(t.MaxRunning), MinRunning: int32(t.MinRunning),
		Rate: t.Rate, Burst: int32(t.Burst), MaxPending: int32(t.MaxPending), Weight: int32(t.Weight),
		Paused: t.Paused, Labels: t.Labels, StartUrl: t.StartURL, FailUrl: t.FailURL, TimeoutUrl: t.TimeoutURL, Version: t.Version, CreatedAt: message.Time(t.CreatedAt), UpdatedAt: message.Time(t.UpdatedAt),
	}
}

// CreateTenant declares a tenant.
func (s *Tenants) CreateTenant(ctx context.Context, in *fairleadv1.Tenant) (*fairleadv1.Tenant, error) {
	if in.GetVersion() != 0 {
		return nil, rest.InvalidField("version", "is set by the server; omit it")
	}
	return s.put(ctx, tenantOf(in))
}

func (s *Tenants) put(ctx context.Context, tenant fairlead.Tenant) (*fairleadv1.Tenant, error) {
	stored, err := s.client.PutTenant(ctx, tenant)
	if err != nil {
		return nil, err
	}
	return tenantTo(stored), nil
}

// GetTenant returns a tenant's declaration.
func (s *Tenants) GetTenant(ctx context.Context, in *fairleadv1.GetTenantRequest) (*fairleadv1.Tenant, error) {
	tenant, err := s.client.Tenant(ctx, in.GetName())
	if err != nil {
		return nil, err
	}
	return tenantTo(tenant), nil
}

// ListTenants returns declared tenants, ordered by name.
func (s *Tenants) ListTenants(ctx context.Context, in *fairleadv1.ListTenantsRequest) (*fairleadv1.ListTenantsResponse, error) {
	filter := fairlead.TenantFilter{After: in.GetPageToken(), Limit: int(in.GetPageSize())}
	size := filter.Page()
	filter.Limit = size + 1 // one more to detect a next page
	tenants, err := s.client.Tenants(ctx, filter)
	if err != nil {
		return nil, err
	}
	tenants, next := page(tenants, size, func(tenant fairlead.Tenant) string { return tenant.Name })
	return &fairleadv1.ListTenantsResponse{Items: items(tenants, tenantTo), NextPageToken: next}, nil
}

// UpdateTenant replaces a tenant's declaration. If the request contains no version, it
// replaces the declaration regardless of the stored version.
func (s *Tenants) UpdateTenant(ctx context.Context, in *fairleadv1.Tenant) (*fairleadv1.Tenant, error) {
	tenant := tenantOf(in)
	if tenant.Version == 0 {
		current, err := s.client.Tenant(ctx, tenant.Name)
		if err != nil {
			return nil, err
		}
		tenant.Version = current.Version
	}
	return s.put(ctx, tenant)
}

// DeleteTenant deletes a tenant's declaration.
func (s *Tenants) DeleteTenant(ctx context.Context, in *fairleadv1.DeleteTenantRequest) (*fairleadv1.DeleteTenantResponse, error) {
	if err := scope.RequireUnrestricted(ctx); err != nil { // before its jobs are counted or cancelled
		return nil, err
	}
	if !in.GetForce() {
		return &fairleadv1.DeleteTenantResponse{}, s.client.DeleteTenant(ctx, in.GetName())
	}
	cancelled, err := s.client.DeleteTenantWithJobs(ctx, in.GetName())
	return &fairleadv1.DeleteTenantResponse{CancelledJobs: int32(cancelled)}, err
}

// PauseTenant prevents a tenant's jobs from starting.
func (s *Tenants) PauseTenant(ctx context.Context, in *fairleadv1.PauseTenantRequest) (*fairleadv1.PauseTenantResponse, error) {
	if err := s.client.Pause(ctx, fairlead.Pause{Scope: fairlead.PauseTenant, Name: in.GetName(), Reason: in.GetReason()}); err != nil {
		return nil, err
	}
	return &fairleadv1.PauseTenantResponse{}, nil
}

// ResumeTenant undoes PauseTenant.
func (s *Tenants) ResumeTenant(ctx context.Context, in *fairleadv1.GetTenantRequest) (*fairleadv1.PauseTenantResponse, error) {
	if err := s.client.ResumeTenant(ctx, in.GetName()); err != nil {
		return nil, err
	}
	return &fairleadv1.PauseTenantResponse{}, nil
}

// GetTenantStats returns a tenant's usage.
func (s *Tenants) GetTenantStats(ctx context.Context, in *fairleadv1.GetTenantRequest) (*fairleadv1.Usage, error) {
	report, err := s.client.Usage(ctx)
	if err != nil {
		return nil, err
	}
	for _, usage := range report.Tenants {
		if usage.Name == in.GetName() {
			out := usageTo(usage)
			return out, markPaused(ctx, s.client, out)
		}
	}
	return nil, driver.NoSuchTenant(in.GetName())
}

// markPaused sets whether tenants are paused, declared or not, and the reasons.
func markPaused(ctx context.Context, client *fairlead.Client, tenants ...*fairleadv1.Usage) error {
	pauses, err := client.Pauses(ctx)
	if err != nil {
		return err
	}
	reasons := map[string]string{}
	for _, pause := range pauses {
		if pause.Scope == fairlead.PauseTenant {
			reasons[pause.Name] = pause.Reason
		}
	}
	for _, usage := range tenants {
		usage.PauseReason, usage.Paused = reasons[usage.GetTenant()]
	}
	return nil
}

// GetTenantSigningKey returns the key that a declared tenant uses to verify messages from
// Fairlead.
func (s *Tenants) GetTenantSigningKey(ctx context.Context, in *fairleadv1.GetTenantRequest) (*fairleadv1.TenantSigningKey, error) {
	tenant, err := s.client.Tenant(ctx, in.GetName())
	if err != nil {
		return nil, err
	}
	key, err := s.client.SigningKey(ctx, tenant.Name)
	if err != nil {
		return nil, err
	}
	return &fairleadv1.TenantSigningKey{Tenant: tenant.Name, SigningKey: key}, nil
}

func usageTo(u fairlead.Usage) *fairleadv1.Usage {
	return &fairleadv1.Usage{
		Tenant: u.Name, Scheduled: int32(u.Scheduled), Parked: int32(u.Parked), Ready: int32(u.Ready), Running: int32(u.Running), Waiting: int32(u.Waiting),
		MaxRunning: int32(u.MaxRunning), MinRunning: int32(u.MinRunning), Rate: u.Rate,
		Started: u.Started, Missed: int32(u.Missed), OldestWait: message.Duration(u.OldestWait), Family: familyTo(u.Family),
	}
}

func familyTo(f *fairlead.FamilyUsage) *fairleadv1.FamilyUsage {
	if f == nil {
		return nil
	}
	return &fairleadv1.FamilyUsage{
		Children: f.Children, Scheduled: int32(f.Scheduled), Parked: int32(f.Parked), Ready: int32(f.Ready), Running: int32(f.Running), Waiting: int32(f.Waiting),
		Started: f.Started, Missed: int32(f.Missed), OldestWait: message.Duration(f.OldestWait),
	}
}
