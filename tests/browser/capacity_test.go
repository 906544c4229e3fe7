package browser

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/server"
)

// actOnCapacity pauses, sets limits and declares tenants.
func actOnCapacity(t *testing.T, lang string) {
	tab, client := acting(t, lang, &fairlead.Job{Kind: "noop", Queue: "mail", Tenant: "acme"})
	paused := func(scope fairlead.PauseScope, name string, want bool) {
		t.Helper()
		pauses, err := client.Pauses(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := len(pauses) == 1 && pauses[0] == (fairlead.Pause{Scope: scope, Name: name}); got != want {
			t.Errorf("%s %s: paused is %v", scope, name, pauses)
		}
	}
	for _, what := range []struct {
		page, path string
		scope      fairlead.PauseScope
		name       string
	}{{"/queues", "/queues/mail", fairlead.PauseQueue, "mail"}, {"/tenants/acme", "/tenants/acme", fairlead.PauseTenant, "acme"}} {
		tab.visit(what.page)
		tab.press(`main a[href^="` + what.path + `/pause"]`)
		tab.confirm()
		paused(what.scope, what.name, true)
		tab.press(`main a[href^="` + what.path + `/resume"]`)
		tab.confirm()
		paused(what.scope, what.name, false)
		tab.quiet(what.page)
	}
	tab.visit("/tenants")
	tab.press(`main a[href^="/new/limit"]`)
	tab.fill("of", "kind")
	tab.fill("name", "noop")
	tab.fill("max_running", "7")
	tab.do(chromedp.Click(chromedp.CSS("#dialog #what-if")))
	tab.await(`document.querySelector("#dialog #foreseen") !== null && document.querySelector("#dialog [name=max_running]").value === "7"`)
	tab.shot("what-if-" + lang)
	tab.confirm()
	tab.press(`main a[href^="/limits/kind:noop/edit"]`)
	tab.fill("rate", "3")
	tab.confirm()
	limits, err := client.Limits(t.Context())
	if err != nil || len(limits) != 1 || limits[0].MaxRunning != 7 || limits[0].Rate != 3 {
		t.Errorf("the limits are %+v, %v", limits, err)
	}
	tab.press(`main a[href^="/limits/kind:noop/what-if"]`)
	tab.fill("max_running", "1")
	tab.shows(`document.querySelector("#dialog #foreseen") !== null && document.querySelector("#dialog #save") !== null`)
	tab.inView("#dialog #foreseen")
	tab.visit("/tenants")
	tab.press(`main a[href^="/limits/kind:noop/remove"]`)
	tab.confirm()
	tab.press(`main a[href^="/new/tenant"]`)
	tab.fill("name", "globex")
	tab.fill("weight", "3")
	tab.confirm()
	tab.press(`#tenant-actions a[href^="/tenants/globex/edit"]`)
	tab.fill("max_running", "4")
	tab.confirm()
	if tenant, err := client.Tenant(t.Context(), "globex"); err != nil || tenant.Weight != 3 || tenant.MaxRunning != 4 {
		t.Errorf("the tenant is %+v, %v", tenant, err)
	}
	tab.press(`#tenant-actions a[href^="/tenants/globex/what-if"]`)
	tab.fill("max_running", "2")
	tab.shows(`document.querySelector("#dialog #foreseen") !== null`)
	tab.visit("/tenants/globex")
	tab.press(`#tenant-actions a[href^="/tenants/globex/delete"]`)
	tab.confirm()
	tab.visit("/tokens")
	tab.press(`main a[href^="/new/token"]`)
	tab.fill("name", "robot")
	tab.shows(`(document.querySelector("#dialog #secret")?.textContent ?? "").length > 20`)
	tab.shot("secret-" + lang)
	tab.visit("/tokens")
	tab.press(`main a[href^="/tokens/1/delete"]`)
	tab.confirm()
	tab.quiet("capacity")
}

// actOnAList starts each bulk action on the jobs of a filter, and stops it before it has
// any effect: no node executes it.
func actOnAList(t *testing.T, lang string) {
	due := time.Now().Add(time.Hour)
	tab, _ := acting(t, lang, &fairlead.Job{Kind: "noop", NotBefore: due}, &fairlead.Job{Kind: "noop", NotBefore: due}, &fairlead.Job{Kind: "other", NotBefore: due})
	for _, bulk := range []struct{ action, matched string }{{"cancel", "2"}, {"run", "2"}, {"delete", "2"}, {"prioritize", "2"}, {"move", "2"}, {"retry", "0"}} {
		tab.visit("/jobs?kind=noop")
		tab.do(chromedp.Click(chromedp.CSS("#bulk-buttons summary")))
		tab.press(`#bulk-buttons a[href^="/new/bulk/` + bulk.action + `"]`)
		if matched := value[string](tab, `document.getElementById("bulk-matched").innerText`); matched != bulk.matched {
			t.Errorf("%s: %s match", bulk.action, matched)
		}
		if bulk.action == "move" {
			tab.fill("queue", "letters")
		}
		tab.shot("bulk-" + bulk.action + "-" + lang)
		tab.confirm()
		tab.await(`location.pathname.startsWith("/bulks/")`)
		tab.press(`main a[href*="/stop"]`)
		tab.confirm()
		tab.quiet(bulk.action)
	}
}

// pauseAKind pauses and resumes a kind listed by a node.
func pauseAKind(t *testing.T, lang string) {
	w := newWorks(t, server.Auth{}) // has a node, so its kinds are listed
	as := wide
	as.lang = lang
	tab := open(t, w.url, as)
	tab.visit("/queues")
	for _, step := range []string{"pause", "resume", "pause", "resume"} {
		button := `#kinds a[href*="/` + step + `?"]`
		tab.await(`document.querySelector(` + quoted(button) + `) !== null`)
		tab.press(button)
		tab.confirm()
		if is := value[bool](tab, `document.querySelector("#kinds a[href*='/resume?']") !== null`); is != (step == "pause") {
			t.Errorf("after %s the kind is paused: %v", step, is)
		}
	}
	tab.quiet("kinds")
}

// drainANode drains and resumes a node.
func drainANode(t *testing.T, lang string) {
	as := wide
	as.lang = lang
	tab := open(t, newWorks(t, server.Auth{}).url, as)
	tab.visit("/nodes")
	tab.await(`document.querySelector('main a[href*="/drain"]') !== null`)
	tab.press(`main a[href*="/drain"]`)
	tab.confirm()
	tab.await(`document.querySelector('main a[href*="/undrain"]') !== null`)
	tab.press(`main a[href*="/undrain"]`)
	tab.confirm()
	tab.await(`document.querySelector('main a[href*="/drain"]') !== null`)
	tab.quiet("nodes")
}
