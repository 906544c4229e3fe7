package scope

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/httpcall"
	"github.com/fairlead-io/fairlead/server/internal/caller"
	"github.com/fairlead-io/fairlead/server/internal/rest"
)

// externalKind is the kind of jobs that package external sends to the tenants' own
// services.
const externalKind = "external"

// errStartElsewhere rejects a start_url from a caller who may not see the values sent
// there.
var errStartElsewhere = &rest.Error{
	Status: http.StatusForbidden,
	Detail: "start_url points to a different host, which would receive the confidential args of jobs of kind \"" + externalKind + "\"; this requires the role " + string(access.RoleAdmin),
}

// PutTenant declares a tenant. Callers bound to tenants may not, because they could raise
// their own limits.
func (s Restricted) PutTenant(ctx context.Context, tenant fairlead.Tenant) (fairlead.Tenant, error) {
	if err := RequireUnrestricted(ctx); err != nil {
		return fairlead.Tenant{}, err
	}
	if err := s.startsThere(ctx, tenant); err != nil {
		return fairlead.Tenant{}, err
	}
	return s.store.PutTenant(ctx, tenant)
}

// startsThere rejects a start_url that would send confidential args of jobs to another
// scheme, host or port, unless the caller may see them. No other URL of a tenant receives
// confidential values, because notices are masked. Even a tenant that does not exist yet
// may have waiting jobs.
func (s Restricted) startsThere(ctx context.Context, tenant fairlead.Tenant) error {
	if tenant.StartURL == "" || caller.Of(ctx).Identity.Role.May(access.RoleAdmin) {
		return nil
	}
	all, err := s.store.Confidential(ctx)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(all[externalKind], func(field string) bool { return strings.HasPrefix(field+".", "args.") }) {
		return nil
	}
	// The store rejects the tenant if it changes between this read and the write.
	found, err := s.store.Tenants(ctx, fairlead.TenantFilter{Names: []string{tenant.Name}})
	if err != nil {
		return err
	}
	if len(found) > 0 && httpcall.SameTarget(tenant.StartURL, found[0].StartURL) {
		return nil
	}
	return errStartElsewhere
}
