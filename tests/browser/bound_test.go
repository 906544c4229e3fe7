package browser

import (
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/server"
	"github.com/fairlead-io/fairlead/sqlite"
)

// TestAViewerOfATenantSeesNothingOfOthers views every screen of the demo as a user
// restricted to one of its three tenants.
func TestAViewerOfATenantSeesNothingOfOthers(t *testing.T) {
	tier.Long(t, "looks at every screen of a demo that has run for a while")
	t.Parallel()
	file := ripeDemo(t)
	store, err := sqlite.Open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	for tenant, secret := range map[string]string{"acme": "secret-of-acme", "initech": "secret-of-initech"} {
		if _, err := store.AddToken(t.Context(), access.Token{Name: "reader of " + tenant, Role: access.RoleViewer, Tenants: []string{tenant}, Hash: server.HashSecret(secret)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	url := freeze(t, file, "", server.Auth{Required: true})
	for tenant, others := range map[string][]string{"acme": {"globex", "initech"}, "initech": {"globex", "acme"}} {
		t.Run(tenant, func(t *testing.T) {
			t.Parallel()
			as := wide
			as.cookies = map[string]string{"fairlead_session": "secret-of-" + tenant}
			tab := open(t, url, as)
			paths := every(tab, func(path string) {
				tab.quiet(path)
				text := strings.ToLower(value[string](tab, `document.documentElement.outerHTML`))
				for _, other := range others {
					if at := strings.Index(text, other); at >= 0 {
						t.Errorf("%s shows %s: …%s…", path, other, text[max(0, at-80):min(len(text), at+80)])
					}
				}
			})
			t.Logf("%q", paths)
			for _, path := range []string{"/nodes", "/queues", "/tokens", "/audit", "/tenants/globex"} {
				tab.visit(path)
				if strings.Contains(value[string](tab, `document.querySelector("main").innerText`), "globex-maintenance") || value[int](tab, `document.querySelectorAll("[data-row]").length`) > 0 {
					t.Errorf("%s shows rows", path)
				}
			}
		})
	}
}
