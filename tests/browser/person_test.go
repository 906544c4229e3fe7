package browser

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/server"
)

// TestAPersonUsesTheConsole signs in, views every list, runs a job, watches it, creates a
// schedule, and signs out. It does each of these once; other tests cover every form, look
// and language.
func TestAPersonUsesTheConsole(t *testing.T) {
	t.Parallel()
	const secret = "secret-of-a-person"
	w := newWorks(t, server.Auth{Required: true, Admin: func() [32]byte { return server.HashSecret(secret) }})
	job := &fairlead.Job{Kind: "greet", NotBefore: time.Now().Add(time.Hour)}
	if err := w.jobs.Enqueue(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	tab := open(t, w.url, wide)
	tab.signIn(secret)
	tab.tour()
	tab.watchAJob(w, job)
	tab.planARun(w)
	tab.readAsItLikes()
	tab.follow(".who button")
	tab.await(`location.pathname === "/login"`)
	tab.visit("/jobs")
	if at := value[string](tab, `location.pathname`); at != "/login" {
		t.Errorf("after signing out, the jobs are at %s", at)
	}
	tab.quiet("signed out")
}

// signIn enters a token on the sign-in page, to which every other page redirects.
func (t *tab) signIn(secret string) {
	t.Helper()
	t.visit("/jobs")
	t.await(`location.pathname === "/login"`)
	t.accessible("/login")
	t.do(chromedp.SendKeys(chromedp.CSS("#token"), secret))
	t.follow("form.login button")
	t.await(`location.pathname === "/jobs"`)
	t.connected()
	t.quiet("/login")
}

// connected waits until the live part of the page has received an update.
func (t *tab) connected() {
	t.Helper()
	t.await(`Number(document.getElementById("live")?.dataset.updates) > 0`)
}

// tour follows the navigation on a large screen and a small one.
func (t *tab) tour() {
	t.Helper()
	pages := value[[]string](t, `[...document.querySelectorAll(".nav a")].map(a => a.getAttribute("href")).filter(href => href !== "/docs")`)
	if len(pages) < 10 {
		t.Fatalf("the navigation has only %q", pages)
	}
	for _, page := range pages {
		t.follow(`.nav a[href="` + page + `"]`)
		t.await(`location.pathname === ` + quoted(page))
		t.connected()
		if head := value[string](t, `document.querySelector("main h1").innerText`); strings.TrimSpace(head) == "" {
			t.Errorf("%s has no title", page)
		}
		t.fits(page)
		t.quiet(page)
	}
	t.visit("/")
	t.await(`document.querySelector("#throughput-chart canvas") !== null`)
	t.accessible("/")
	t.show(look{width: 375, height: 800})
	for _, page := range []string{"/", "/jobs"} {
		t.visit(page)
		t.fits(page + " on a small screen")
	}
	t.show(wide)
	t.quiet("/")
}

// watchAJob starts a job that is due later, and watches it run and end without reloading
// the page.
func (t *tab) watchAJob(w *works, job *fairlead.Job) {
	t.Helper()
	t.visit("/jobs")
	t.accessible("/jobs")
	t.follow(fmt.Sprintf(`#job-%d a[href="/jobs/%d"]`, job.ID, job.ID))
	t.connected()
	t.press(fmt.Sprintf(`#job-actions a[href^="/jobs/%d/run"]`, job.ID))
	t.accessible("the form that runs a job")
	t.confirm()
	value[bool](t, `window.stays = true`)
	const state = `document.querySelector("#job-standing .state").innerText`
	t.await(state + ` === "running"`)
	close(w.goOn)
	t.await(state + ` === "succeeded" && window.stays === true`)
	t.accessible("/jobs/{id}")
	t.quiet("/jobs/{id}")
	if now, err := w.jobs.Get(t.Context(), job.ID); err != nil || now.State != fairlead.Succeeded {
		t.Errorf("the job is %+v, %v", now, err)
	}
}

// planARun creates a schedule in a form on its own page, and finds it with the palette.
func (t *tab) planARun(w *works) {
	t.Helper()
	t.visit("/schedules")
	t.follow(`main a[href^="/new/schedule"]`)
	t.enters("name", "nightly")
	t.enters("way", "cron")
	t.enters("cron", "30 2 * * *")
	t.enters("timezone", "Europe/Paris")
	t.enters("call_url", "https://api.example.org/")
	t.await(`document.getElementById("fires-preview").innerText.includes("02:30:00 CE")`)
	t.accessible("/new/schedule")
	t.save()
	s, err := w.plans.Get(t.Context(), "nightly")
	if err != nil || s.Cron != "0 30 2 * * *" || s.Zone != "Europe/Paris" {
		t.Fatalf("stored is %+v, %v", s, err)
	}
	t.quiet("/new/schedule")
	t.visit("/")
	t.find("nightly", fmt.Sprint("/schedules/", s.ID))
}

// find opens the palette with its key and follows a result.
func (t *tab) find(text, path string) {
	t.Helper()
	value[bool](t, `document.dispatchEvent(new KeyboardEvent("keydown", {key: "k", ctrlKey: true, bubbles: true}))`)
	t.await(`document.getElementById("palette").open`)
	t.do(chromedp.SendKeys(chromedp.CSS("#palette-text"), text))
	t.await(`[...document.querySelectorAll("#palette-found a")].some(a => a.getAttribute("href") === ` + quoted(path) + `)`)
	t.do(chromedp.SendKeys(chromedp.CSS("#palette-text"), "\r"))
	t.await(`location.pathname === ` + quoted(path))
	t.quiet("palette")
}

// readAsItLikes selects another language and dark colours.
func (t *tab) readAsItLikes() {
	t.Helper()
	t.follow(`button[value="zh"]`)
	t.await(`document.documentElement.lang === "zh-Hans"`)
	t.follow(`button[value="dark"]`)
	t.await(`document.documentElement.dataset.theme === "dark"`)
	t.connected()
	t.accessible("a schedule in Chinese, in the dark")
	t.quiet("preferences")
}
