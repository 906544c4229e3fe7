package cli

import (
	"context"
	"encoding/json"
	"slices"

	"google.golang.org/protobuf/proto"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/wire"
)

// wantedTenant is a tenant in a file.
type wantedTenant struct {
	*fairleadv1.Tenant
	saysPaused bool
}

func readTenant(entry json.RawMessage) (*wantedTenant, error) {
	wanted := &wantedTenant{Tenant: &fairleadv1.Tenant{}}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(entry, &fields); err == nil {
		_, wanted.saysPaused = fields["paused"]
	}
	err := wire.Unmarshal(entry, wanted.Tenant)
	return wanted, err
}

// tenantChange is the change of a tenant to match a file.
type tenantChange struct {
	current, wanted *fairleadv1.Tenant // current is nil if the tenant does not exist yet
	differences
}

func (change *tenantChange) text() string {
	return change.describe(change.current == nil, "tenant "+change.wanted.GetName())
}

func (change *tenantChange) asked() *fairleadv1.WhatIfChange {
	return &fairleadv1.WhatIfChange{Tenant: change.versioned()}
}

// versioned returns the wanted tenant with the version of the current one.
func (change *tenantChange) versioned() *fairleadv1.Tenant {
	wanted := proto.CloneOf(change.wanted)
	wanted.Version = change.current.GetVersion()
	return wanted
}

// make changes one tenant.
func (change *tenantChange) make(ctx context.Context, c *call) (err error) {
	if change.current == nil {
		_, err = c.tenants.CreateTenant(ctx, change.wanted)
		return err
	}
	_, err = c.tenants.UpdateTenant(ctx, change.versioned())
	return err
}

// tenantAsFile returns a tenant without the fields that the server sets.
func tenantAsFile(tenant *fairleadv1.Tenant) *fairleadv1.Tenant {
	out := proto.CloneOf(tenant)
	out.Version, out.CreatedAt, out.UpdatedAt = 0, nil, nil
	return out
}

// allTenants returns the declared tenants.
func (c *call) allTenants(ctx context.Context) ([]*fairleadv1.Tenant, error) {
	all, _, err := pages(0, func(size int32, token string) (*fairleadv1.ListTenantsResponse, error) {
		return c.tenants.ListTenants(ctx, &fairleadv1.ListTenantsRequest{PageSize: size, PageToken: token})
	})
	return all, err
}

// tenantChanges compares the tenants of a file with the existing ones. Parents come before
// their children.
func (c *call) tenantChanges(ctx context.Context, wanted []*wantedTenant) (changes []change, err error) {
	if len(wanted) == 0 {
		return nil, nil
	}
	there, err := c.allTenants(ctx)
	if err != nil {
		return nil, err
	}
	known := byName(there)
	parentsFirst := func(a, b *wantedTenant) int {
		switch {
		case a.GetParent() == "" && b.GetParent() != "":
			return -1
		case a.GetParent() != "" && b.GetParent() == "":
			return 1
		}
		return 0
	}
	for _, w := range slices.SortedStableFunc(slices.Values(wanted), parentsFirst) {
		change := &tenantChange{current: known[w.GetName()], wanted: tenantAsFile(w.Tenant)}
		change.wanted.Burst = burstAsKept(w.GetRate(), w.GetBurst())
		before := &fairleadv1.Tenant{}
		if change.current != nil {
			before = tenantAsFile(change.current)
			if !w.saysPaused {
				change.wanted.Paused = before.GetPaused()
			}
		}
		if change.compare("", before.ProtoReflect(), change.wanted.ProtoReflect()); change.current == nil || change.any() {
			changes = append(changes, change)
		}
	}
	return changes, nil
}
