package scope

import (
	"errors"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/server/internal/caller"
)

func TestACallerWhoIsBoundAsksAboutOwnTenantsAndSeesNoOthers(t *testing.T) {
	store := sqlitetest.Open(t)
	defer store.Close()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	node, err := store.Join(t.Context(), fairlead.Node{Name: "alpha", Kinds: []string{"noop"}, Slots: 9}, time.Hour)
	must(err)
	_, err = store.Beat(t.Context(), driver.Beat{Node: node, Lease: time.Hour, Idle: 9})
	must(err)
	client := fairlead.NewClient(store)
	must(client.Enqueue(t.Context(), &fairlead.Job{Kind: "noop", Tenant: "zeta"}, &fairlead.Job{Kind: "noop", Tenant: "acme"}))
	acme, err := client.PutTenant(t.Context(), fairlead.Tenant{Name: "acme", MinRunning: 1})
	must(err)
	acme.MaxRunning = 3
	own := fairlead.NewClient(Restricted{store: store})
	bound := caller.With(t.Context(), caller.Caller{Identity: caller.Identity{Name: "acme's", Role: access.RoleViewer, Tenants: []string{"acme"}}})
	forecast, err := own.WhatIf(bound, fairlead.WhatIf{Changes: []fairlead.RuleChange{{Tenant: &acme}}})
	must(err)
	if len(forecast.After.Starts) != 1 || forecast.After.Starts[0].Tenant != "acme" || len(forecast.Waits) != 1 || forecast.Idle != 0 {
		t.Errorf("it sees %+v", forecast)
	}
	other, raised, moved := fairlead.Tenant{Name: "zeta"}, acme, acme
	raised.MinRunning, moved.Parent = 2, "zeta"
	for _, change := range []fairlead.RuleChange{{Tenant: &other}, {Tenant: &raised}, {Tenant: &moved}, {Limit: &fairlead.Limit{Scope: fairlead.LimitGlobal, MaxRunning: 1}}} {
		_, err := own.WhatIf(bound, fairlead.WhatIf{Changes: []fairlead.RuleChange{change}})
		if err == nil || errors.Is(err, fairlead.ErrInvalid) || errors.Is(err, fairlead.ErrNotFound) {
			t.Errorf("asking about %+v says %v", change, err)
		}
	}
}
