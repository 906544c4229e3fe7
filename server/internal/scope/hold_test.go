package scope

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/hold"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/server/internal/caller"
	"github.com/fairlead-io/fairlead/sqlite"
)

// heldStore returns a store with a job of the tenant acme, whose parent is top, and holds
// of all scopes.
func heldStore(t *testing.T) (*sqlite.Store, *fairlead.Job) {
	t.Helper()
	store := sqlitetest.Open(t)
	t.Cleanup(func() { _ = store.Close() })
	job := &fairlead.Job{Kind: "mail", Queue: "post", Tenant: "acme"}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, tenant := range []fairlead.Tenant{{Name: "top"}, {Name: "acme", Parent: "top"}} {
		_, err := store.PutTenant(t.Context(), tenant)
		must(err)
	}
	must(fairlead.NewClient(store).Enqueue(t.Context(), job))
	now, err := store.Now(t.Context())
	must(err)
	found := hold.Found{Next: 1, Now: now.Add(-time.Hour), Due: 2 * time.Hour}
	for _, cause := range []hold.Cause{
		{Code: fairlead.AtCap, Scope: fairlead.LimitGlobal},
		{Code: fairlead.IsPaused, Scope: fairlead.LimitQueue, Queue: "post"},
		{Code: fairlead.IsPaused, Scope: fairlead.LimitKind, Kind: "zetas kind"},
		{Code: fairlead.NoNode, Queue: "post", Kind: "mail"},
		{Code: fairlead.IsPaused, Scope: fairlead.LimitTenant, Tenant: "acme"},
		{Code: fairlead.AtCap, Scope: fairlead.LimitTenant, Tenant: "top"},
		{Code: fairlead.AtCap, Scope: fairlead.LimitTenant, Tenant: "zeta"},
		{Code: fairlead.AtGate, Scope: fairlead.LimitKind, Tenant: "acme", Kind: "mail", Gate: "own"},
		{Code: fairlead.AtGate, Scope: fairlead.LimitKind, Tenant: "zeta", Kind: "mail", Gate: "zetas key"},
	} {
		found.Begun = append(found.Begun, hold.Hold{ID: int64(len(found.Begun) + 1), Cause: cause, From: now.Add(-time.Hour), Used: 77, Cap: 77})
	}
	_, err = store.KeepHolds(t.Context(), found)
	must(err)
	return store, job
}

func TestCallersWhoAreBoundSeeTheHoldsOfTheirTenantsAndNoNamesOfOthers(t *testing.T) {
	store, _ := heldStore(t)
	for _, c := range []struct {
		tenants []string
		filter  hold.Filter
		want    string
	}{
		{nil, hold.Filter{}, "1 2 3 4 5 6 7 8 9"},
		{[]string{"acme"}, hold.Filter{}, "1 5 8"},
		{[]string{"acme"}, hold.Filter{Tenant: "acme"}, "1 5 6 8"},
		{[]string{"acme"}, hold.Filter{Tenant: "acme", Queue: "post", Kind: "mail"}, "1 2 4 5 6 8"},
		{[]string{"acme"}, hold.Filter{Tenant: "zeta"}, ""},
		{[]string{"zeta"}, hold.Filter{}, "1 7 9"},
	} {
		c.filter.Limit = 100
		ctx := caller.With(t.Context(), caller.Caller{Identity: caller.Identity{Name: "ann", Role: access.RoleViewer, Tenants: c.tenants}})
		page, err := Restricted{store: store}.Holds(ctx, c.filter)
		if err != nil {
			t.Fatal(err)
		}
		seen := ""
		for _, h := range page.Holds {
			seen = strings.TrimSpace(fmt.Sprint(h.ID, " ", seen))
			if c.tenants != nil && (strings.Contains(h.Text(), "top") || h.Tenant == "top" || h.ID == 6 && h.Used != 0) {
				t.Errorf("a caller bound to %v learns of the parent: %+v", c.tenants, h)
			}
		}
		if seen != c.want {
			t.Errorf("a caller bound to %v who asks for %+v sees %s, want %s", c.tenants, c.filter, seen, c.want)
		}
	}
}

func TestAHistoryDoesNotNameTheParentToCallersWhoAreBound(t *testing.T) {
	store, job := heldStore(t)
	for _, c := range []struct {
		tenants []string
		named   bool
	}{{nil, true}, {[]string{"acme"}, false}, {[]string{"acme", "top"}, true}} {
		ctx := caller.With(t.Context(), caller.Caller{Identity: caller.Identity{Name: "ann", Role: access.RoleViewer, Tenants: c.tenants}})
		history, err := Restricted{store: store}.History(ctx, job.ID)
		if err != nil {
			t.Fatal(err)
		}
		if text := fmt.Sprint(history.Stretches); strings.Contains(text, "top") != c.named || !strings.Contains(text, "tenant \"acme\" was paused") || strings.Contains(text, "zeta") {
			t.Errorf("to who is bound to %v the history is %s", c.tenants, text)
		}
	}
	ctx := caller.With(t.Context(), caller.Caller{Identity: caller.Identity{Name: "ann", Role: access.RoleViewer, Tenants: []string{"zeta"}}})
	if _, err := (Restricted{store: store}).History(ctx, job.ID); err == nil {
		t.Error("the history of another's job is shown")
	}
}
