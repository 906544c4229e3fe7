package console

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/hold"
)

func TestViewersWhoAreBoundAreNotShownTheParentOfTheirTenant(t *testing.T) {
	r := newRig(t, true, nil)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, tenant := range []fairlead.Tenant{{Name: "conglomerate", MaxRunning: 1, Rate: 0.001}, {Name: "sister", Parent: "conglomerate"}, {Name: "acme", Parent: "conglomerate"}} {
		_, err := r.jobs.PutTenant(t.Context(), tenant)
		must(err)
	}
	node, err := r.store.Join(t.Context(), fairlead.Node{Name: "busy", Kinds: []string{"noop"}, Slots: 9}, time.Hour)
	must(err)
	now, err := r.store.Now(t.Context())
	must(err)
	r.enqueue(&fairlead.Job{Kind: "noop", Tenant: "sister"}, &fairlead.Job{Kind: "noop", Tenant: "sister"})
	_, err = r.store.Claim(t.Context(), driver.Claim{Node: node, Scope: &driver.Scope{Kinds: []string{"noop"}}, Max: 9})
	must(err)
	first, second := &fairlead.Job{Kind: "noop", Tenant: "acme"}, &fairlead.Job{Kind: "noop", Tenant: "acme"}
	r.enqueue(first, second)
	_, err = r.store.KeepHolds(t.Context(), hold.Found{Next: 1, Now: now.Add(-time.Hour), Due: 2 * time.Hour, Begun: []hold.Hold{{
		ID: 1, Cause: hold.Cause{Code: fairlead.AtCap, Scope: fairlead.LimitTenant, Tenant: "conglomerate"}, From: now.Add(-time.Hour), Used: 1, Cap: 1,
	}}})
	must(err)
	all, bound := r.token("all", access.RoleViewer), r.token("bound", access.RoleViewer, "acme")
	for path, c := range map[string]struct{ told, instead []string }{
		"/jobs/" + text(second.ID): {
			[]string{"conglomerate", "1 of 1 slots", "2 jobs are ahead"},
			[]string{"The parent tenant is at its cap.", "The parent tenant has reached its start rate.", "1 job of the same tenant is ahead."},
		},
		"/jobs/" + text(first.ID): {[]string{"conglomerate", "1 job is ahead"}, []string{"Jobs of other tenants are ahead."}},
		"/tenants/acme":           {[]string{"conglomerate"}, []string{"acme"}},
		"/":                       {[]string{"conglomerate"}, []string{"At the cap for 1h: the parent tenant."}},
		"/holds?tenant=acme":      {[]string{}, []string{"the parent tenant"}},
	} {
		r.shows(r.page(http.StatusOK, path, sessionCookie, all), c.told...)
		page := r.page(http.StatusOK, path, sessionCookie, bound)
		r.shows(page, c.instead...)
		r.hides(page, append(c.told, "sister", "tenant &#34;&#34;", "Tenant &#34;&#34;")...)
	}
	must(r.store.Pause(t.Context(), fairlead.Pause{Scope: fairlead.PauseTenant, Name: "conglomerate"}))
	r.console.forget()
	paused := "/jobs/" + text(first.ID)
	r.shows(r.page(http.StatusOK, paused, sessionCookie, bound), "The parent tenant is paused.")
	if chinese := r.page(http.StatusOK, paused, sessionCookie, bound, "lang", "zh"); strings.Contains(chinese, "conglomerate") || !strings.Contains(chinese, "上级租户已暂停") {
		t.Errorf("in Chinese: %s", chinese)
	}
	for !strings.Contains(r.page(http.StatusOK, paused, sessionCookie, bound), "The parent tenant was at its cap.") { // once it has waited noticeably
		r.console.forget()
	}
}
