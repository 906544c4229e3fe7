package scope

import (
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/server/internal/caller"
)

func TestAFamilyIsShownToWhoMaySeeAllOfIt(t *testing.T) {
	store := sqlitetest.Open(t)
	defer store.Close()
	for _, tenant := range []fairlead.Tenant{{Name: "acme"}, {Name: "east", Parent: "acme"}} {
		if _, err := store.PutTenant(t.Context(), tenant); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		tenants []string
		shown   bool
	}{{nil, true}, {[]string{"acme"}, false}, {[]string{"acme", "east"}, true}} {
		ctx := caller.With(t.Context(), caller.Caller{Identity: caller.Identity{Name: "ann", Role: access.RoleViewer, Tenants: c.tenants}})
		report, err := Restricted{store: store}.Usage(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if shown := report.Tenants[0].Family != nil; shown != c.shown {
			t.Errorf("to who is bound to %v the family is shown: %v", c.tenants, shown)
		}
	}
}
