package browser

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/server"
	"github.com/fairlead-io/fairlead/sqlite"
)

// acting opens a tab before a database with jobs of its own, which no node runs.
func acting(t *testing.T, lang string, jobs ...*fairlead.Job) (*tab, *fairlead.Client) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "acting.db")
	store, err := sqlite.Open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	client := fairlead.NewClient(store)
	if err := client.Enqueue(t.Context(), jobs...); err != nil {
		t.Fatal(err)
	}
	as := wide
	as.lang = lang
	return open(t, freeze(t, file, "", server.Auth{}), as), client
}

// press opens the form of a link, and waits until it is shown over the page.
func (t *tab) press(selector string) {
	t.Helper()
	t.do(chromedp.Click(chromedp.CSS(selector)))
	t.await(`document.getElementById("dialog").open && document.querySelector("#dialog .buttons") !== null`)
}

// confirm sends the open form, and waits for the page that says what was done.
func (t *tab) confirm() {
	t.Helper()
	sent := t.sending()
	value[bool](t, `window.before = true`)
	t.do(chromedp.Click(chromedp.CSS("#dialog #do")))
	t.await(`window.before === undefined && document.getElementById("notice") !== null && Number(document.getElementById("live").dataset.updates) > 0`)
	done.add(sent)
}

// save sends a form that is a page of its own, and waits for the page that says what was
// done.
func (t *tab) save() {
	t.Helper()
	sent := t.sending()
	t.follow("#do")
	t.await(`document.getElementById("notice") !== null`)
	done.add(sent)
}

// shows sends the open form, and waits until it shows what came of it.
func (t *tab) shows(expression string) {
	t.Helper()
	sent := t.sending()
	t.do(chromedp.Click(chromedp.CSS("#dialog #do")))
	t.await(expression)
	done.add(sent)
}

func TestActionsOnAJob(t *testing.T) {
	for _, lang := range languages {
		t.Run(lang, func(t *testing.T) {
			job := &fairlead.Job{Kind: "noop", NotBefore: time.Now().Add(time.Hour)}
			tab, client := acting(t, lang, job)
			state := func() fairlead.State {
				t.Helper()
				now, err := client.Get(t.Context(), job.ID)
				if err != nil {
					t.Fatal(err)
				}
				return now.State
			}
			path := fmt.Sprint("/jobs/", job.ID)
			tab.visit(path)
			for _, step := range []struct {
				act  string
				then fairlead.State
			}{{"run", fairlead.Ready}, {"cancel", fairlead.Cancelled}, {"retry", fairlead.Ready}} {
				tab.press(fmt.Sprintf(`#job-actions a[href^="%s/%s"]`, path, step.act))
				tab.confirm()
				if now := state(); now != step.then {
					t.Errorf("after %s the job is %s", step.act, now)
				}
				tab.quiet(step.act)
			}
			tab.press(fmt.Sprintf(`#job-actions a[href^="%s/priority"]`, path))
			tab.fill("priority", "12")
			tab.confirm()
			if now, err := client.Get(t.Context(), job.ID); err != nil || now.Priority != 12 {
				t.Errorf("the priority is %v, %v", now, err)
			}
			tab.press(fmt.Sprintf(`#job-actions a[href^="%s/move"]`, path))
			tab.fill("queue", "letters")
			tab.confirm()
			if now, err := client.Get(t.Context(), job.ID); err != nil || now.Queue != "letters" {
				t.Errorf("the queue is that of %v, %v", now, err)
			}
			tab.press(fmt.Sprintf(`#job-actions a[href^="%s/copy"]`, path))
			tab.fill("args", `{"tea": 2}`)
			tab.confirm()
			tab.await(`location.pathname === ` + quoted(fmt.Sprint("/jobs/", job.ID+1)))
			if copied, err := client.Get(t.Context(), job.ID+1); err != nil || copied.Queue != "letters" || !strings.Contains(string(copied.Args), "tea") {
				t.Errorf("the copy is %v, %v", copied, err)
			}
			tab.visit(path)
			tab.press(fmt.Sprintf(`#job-actions a[href^="%s/delete"]`, path))
			tab.do(chromedp.Click(chromedp.CSS("#dialog [data-close]")))
			tab.await(`!document.getElementById("dialog").open`)
			if now := state(); now != fairlead.Ready {
				t.Errorf("after it was left alone the job is %s", now)
			}
			tab.press(fmt.Sprintf(`#job-actions a[href^="%s/delete"]`, path))
			tab.confirm()
			tab.await(`location.pathname === "/jobs"`)
			tab.quiet("delete")
		})
	}
}

func TestAFormThatIsRefusedStaysOpen(t *testing.T) {
	for lang, then := range map[string]string{"en": "when you opened this", "zh": "打开此窗口时"} {
		t.Run(lang, func(t *testing.T) {
			job := &fairlead.Job{Kind: "noop", NotBefore: time.Now().Add(time.Hour)}
			tab, client := acting(t, lang, job)
			tab.visit(fmt.Sprint("/jobs/", job.ID))
			tab.press(`#job-actions a[href*="/run"]`)
			if err := client.Cancel(t.Context(), job.ID, "by another"); err != nil {
				t.Fatal(err)
			}
			tab.do(chromedp.Click(chromedp.CSS("#dialog #do")))
			tab.await(`document.querySelector("#dialog #problem") !== null && document.getElementById("dialog").innerText.includes(` + quoted(then) + `)`)
			tab.shot("refused-" + lang)
		})
	}
}

// TestEveryFormIsSoundOverItsPage opens each form of the demo where its button is.
func TestEveryFormIsSoundOverItsPage(t *testing.T) {
	url := frozenDemo(t)
	dir := os.Getenv("FAIRLEAD_SCREENSHOTS")
	paths := every(open(t, url, wide))
	forms := func(tab *tab, path string) []string {
		tab.visit(path)
		return value[[]string](tab, `[...document.querySelectorAll("main a[data-dialog]")].map(a => a.getAttribute("href"))`)
	}
	var first map[string]bool // the forms of the first look
	for i, as := range looks {
		t.Run(as.String(), func(t *testing.T) {
			tab := open(t, url, as)
			seen := map[string]bool{}
			for _, path := range paths {
				if strings.Contains(path, "next=") {
					continue // a form as a page
				}
				for _, href := range forms(tab, path) {
					where, _, _ := strings.Cut(href, "?") // what follows may be a time, which goes on
					parts := strings.Split(where, "/")
					form := parts[1] + "-" + parts[len(parts)-1]
					if seen[form] {
						continue
					}
					seen[form] = true
					tab.press(fmt.Sprintf(`main a[data-dialog][href^=%q]`, where+"?"))
					tab.accessible(form)
					tab.fits(form)
					if over := value[int](tab, `document.getElementById("dialog").scrollWidth - document.getElementById("dialog").clientWidth`); over > 0 {
						t.Errorf("%s: %d px do not fit into the dialog", form, over)
					}
					tab.quiet(form)
					if dir != "" {
						picture := send(tab, page.CaptureScreenshot, page.CaptureScreenshotParams{}).Data
						if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("form-%s-%s.png", form, as)), picture, 0o644); err != nil {
							t.Fatal(err)
						}
					}
					tab.do(chromedp.Click(chromedp.CSS("#dialog [data-close]")))
					tab.await(`!document.getElementById("dialog").open`)
				}
			}
			if i == 0 {
				first = seen
				t.Logf("%d forms: %v", len(seen), slices.Sorted(maps.Keys(seen)))
			} else if !maps.Equal(seen, first) {
				t.Errorf("the forms are %v, and were %v", slices.Sorted(maps.Keys(seen)), slices.Sorted(maps.Keys(first)))
			}
		})
	}
}
