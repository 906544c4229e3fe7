package server

import (
	"context"
	"errors"
	"maps"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/server/internal/scope"
)

// patchTries is the number of attempts for a change without a version if another caller
// changes the tenant at the same time.
const patchTries = 5

// PatchTenant changes the fields of a tenant's declaration that are given in the request.
func (s *Tenants) PatchTenant(ctx context.Context, in *fairleadv1.PatchTenantRequest) (*fairleadv1.Tenant, error) {
	if err := scope.RequireUnrestricted(ctx); err != nil { // before revealing whether the tenant exists
		return nil, err
	}
	for try := 1; ; try++ {
		current, err := s.client.Tenant(ctx, in.GetName())
		if err != nil {
			return nil, err
		}
		stored, err := s.put(ctx, patchTenant(current, in))
		if in.GetVersion() != 0 || try == patchTries || !errors.Is(err, fairlead.ErrConflict) {
			return stored, err
		}
	}
}

// patchTenant returns a tenant with the given fields changed. Without a version it replaces
// the version that was read.
func patchTenant(tenant fairlead.Tenant, in *fairleadv1.PatchTenantRequest) fairlead.Tenant {
	set(&tenant.Parent, in.Parent)
	setCount(&tenant.MaxRunning, in.MaxRunning)
	setCount(&tenant.MinRunning, in.MinRunning)
	setCount(&tenant.Weight, in.Weight)
	set(&tenant.Rate, in.Rate)
	setCount(&tenant.Burst, in.Burst)
	setCount(&tenant.MaxPending, in.MaxPending)
	set(&tenant.Paused, in.Paused)
	set(&tenant.StartURL, in.StartUrl)
	set(&tenant.FailURL, in.FailUrl)
	set(&tenant.TimeoutURL, in.TimeoutUrl)
	tenant.Labels = maps.Clone(tenant.Labels)
	for name, value := range in.GetLabels() {
		if tenant.Labels == nil {
			tenant.Labels = map[string]string{}
		}
		if tenant.Labels[name] = value; value == "" {
			delete(tenant.Labels, name)
		}
	}
	if in.GetVersion() != 0 {
		tenant.Version = in.GetVersion()
	}
	return tenant
}

// set changes a field if a value is given.
func set[T any](field *T, given *T) {
	if given != nil {
		*field = *given
	}
}

func setCount(field *int, given *int32) {
	if given != nil {
		*field = int(*given)
	}
}
