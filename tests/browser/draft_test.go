package browser

import (
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/server"
)

func TestInputOutlivesAReloadAndASession(t *testing.T) {
	t.Parallel()
	const secret = "secret-of-a-typist"
	w := newWorks(t, server.Auth{Required: true, Admin: func() [32]byte { return server.HashSecret(secret) }})
	tab := open(t, w.url, wide)
	tab.signIn(secret)

	tab.visit("/new/schedule")
	tab.enters("name", "typed")
	tab.enters("way", "cron")
	tab.enters("cron", "30 2 * * *")
	tab.enters("call_url", "https://api.example.org/")
	tab.visit("/new/schedule")
	tab.restored("name", "typed")
	tab.await(`document.getElementById("fires-preview").innerText.includes("02:30:00")`)
	tab.accessible("a restored form")

	send(tab, network.ClearBrowserCookies, cdp.Empty{})
	tab.follow("#do")
	tab.await(`location.pathname === "/login"`)
	value[bool](tab, `(() => { document.getElementById("token").value = `+quoted(secret)+`; return true; })()`)
	tab.follow("form.login button.primary:not(a)")
	tab.await(`location.pathname === "/new/schedule"`)
	tab.restored("name", "typed")
	tab.save()
	if s, err := w.plans.Get(t.Context(), "typed"); err != nil || s.Cron != "0 30 2 * * *" {
		t.Errorf("stored is %+v, %v", s, err)
	}
	tab.visit("/new/schedule")
	tab.pristine("name")
	tab.quiet("/new/schedule")
}

func TestInputOutlivesADialogUntilItIsDiscarded(t *testing.T) {
	t.Parallel()
	w := newWorks(t, server.Auth{})
	tab := open(t, w.url, wide)
	const button = `main a[href^="/new/tenant"]`
	closes := func() { value[bool](tab, `(document.getElementById("dialog").close(), true)`) }
	tab.visit("/tenants")
	tab.press(button)
	tab.enters("name", "typed")
	closes()
	tab.press(button)
	tab.restored("name", "typed")
	value[bool](tab, `(document.querySelector(".restored button").click(), true)`)
	tab.pristine("name")
	closes()
	tab.press(button)
	tab.pristine("name")

	tab.enters("name", "left")
	value[bool](tab, `(document.querySelector("#dialog .buttons [data-close]").click(), true)`)
	tab.press(button)
	tab.pristine("name")
	tab.enters("name", "saved")
	tab.confirm()
	tab.visit("/tenants")
	tab.press(button)
	tab.pristine("name")
	tab.quiet("/new/tenant")
}

// A form that was opened for other jobs must not take over their filter.
func TestInputStaysWithTheAddressOfItsForm(t *testing.T) {
	t.Parallel()
	w := newWorks(t, server.Auth{})
	later := time.Now().Add(time.Hour)
	if err := w.jobs.Enqueue(t.Context(), &fairlead.Job{Kind: "greet", NotBefore: later}, &fairlead.Job{Kind: "write", NotBefore: later}); err != nil {
		t.Fatal(err)
	}
	tab := open(t, w.url, wide)
	tab.visit("/new/bulk/cancel?filter=kind%3Dgreet")
	tab.enters("rate", "7")
	tab.visit("/new/bulk/cancel?filter=kind%3Dwrite")
	tab.pristine("rate")
	tab.visit("/new/bulk/cancel?filter=kind%3Dgreet")
	tab.restored("rate", "7")
	tab.quiet("/new/bulk/cancel")
}

// restored waits until a form shows a value that was typed before the page was left.
func (t *tab) restored(name, text string) {
	t.Helper()
	t.await(`document.querySelector("form.act [name=` + name + `]")?.value === ` + quoted(text) + ` && document.querySelector(".restored") !== null`)
}

// pristine waits until a form shows an empty field and nothing that was restored.
func (t *tab) pristine(name string) {
	t.Helper()
	t.await(`document.querySelector("form.act [name=` + name + `]")?.value === "" && document.querySelector(".restored") === null`)
}
