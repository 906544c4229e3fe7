package browser

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/server"
	"github.com/fairlead-io/fairlead/sqlite"
)

// acting opens a tab for a database with jobs of its own, which no node runs.
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

// press opens the form of a link and waits until the form is shown over the page.
func (t *tab) press(selector string) {
	t.Helper()
	t.do(chromedp.Click(chromedp.CSS(selector)))
	t.await(`document.getElementById("dialog").open && document.querySelector("#dialog .buttons") !== null`)
}

// confirm sends the open form and waits for the page that reports the result.
func (t *tab) confirm() {
	t.Helper()
	sent := t.sending()
	value[bool](t, `window.before = true`)
	t.do(chromedp.Click(chromedp.CSS("#dialog #do")))
	t.await(`window.before === undefined && document.getElementById("notice") !== null && Number(document.getElementById("live").dataset.updates) > 0`)
	done.add(sent)
}

// save sends a form that is a page of its own and waits for the page that reports the
// result.
func (t *tab) save() {
	t.Helper()
	sent := t.sending()
	t.follow("#do")
	t.await(`document.getElementById("notice") !== null`)
	done.add(sent)
}

// shows sends the open form and waits until it shows the result.
func (t *tab) shows(expression string) {
	t.Helper()
	sent := t.sending()
	t.do(chromedp.Click(chromedp.CSS("#dialog #do")))
	t.await(expression)
	done.add(sent)
}

// actOnAJob performs all actions of a job's buttons.
func actOnAJob(t *testing.T, lang string) {
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
}

func TestAFormThatIsRefusedStaysOpen(t *testing.T) {
	tier.Long(t, "a refusal in every language")
	t.Parallel()
	for lang, then := range map[string]string{"en": "when you opened this", "zh": "打开此表单时"} {
		t.Run(lang, func(t *testing.T) {
			t.Parallel()
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

// TestEveryFormIsSoundOverItsPage opens each form of the demo with its button.
func TestEveryFormIsSoundOverItsPage(t *testing.T) {
	tier.Long(t, "every form in every look")
	t.Parallel()
	url, paths := frozenDemo(t)
	var mu sync.Mutex
	found := map[string][]string{} // forms by language
	t.Cleanup(func() {             // after all languages
		if !t.Failed() && len(found) == len(languages) && !slices.Equal(found["en"], found["zh"]) {
			t.Errorf("the forms in English are %v, those in Chinese are %v", found["en"], found["zh"])
		}
	})
	inEachLanguage(t, looks, func(t *testing.T, looks []look) {
		tab := open(t, url, looks[0])
		seen := map[string]bool{}
		for _, path := range paths {
			if strings.Contains(path, "next=") {
				continue // the form is a page of its own
			}
			tab.visit(path)
			for _, href := range value[[]string](tab, `[...document.querySelectorAll("main a[data-dialog]")].map(a => a.getAttribute("href"))`) {
				where, _, _ := strings.Cut(href, "?") // the query may contain a time, which changes
				parts := strings.Split(where, "/")
				form := parts[1] + "-" + parts[len(parts)-1]
				if seen[form] {
					continue
				}
				seen[form] = true
				tab.press(fmt.Sprintf(`main a[data-dialog][href^=%q]`, where+"?"))
				for _, as := range looks {
					tab.show(as)
					tab.soundForm(form, as)
				}
				tab.show(looks[0])
				tab.do(chromedp.Click(chromedp.CSS("#dialog [data-close]")))
				tab.await(`!document.getElementById("dialog").open`)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		found[looks[0].lang] = slices.Sorted(maps.Keys(seen))
		t.Logf("%d forms: %v", len(seen), found[looks[0].lang])
	})
}

// soundForm fails the test unless the open form is readable and accessible. It saves a
// screenshot if requested.
func (t *tab) soundForm(form string, as look) {
	t.Helper()
	where := fmt.Sprintf("%s, %s", form, as)
	t.accessible(where)
	t.fits(where)
	if over := value[int](t, `document.getElementById("dialog").scrollWidth - document.getElementById("dialog").clientWidth`); over > 0 {
		t.Errorf("%s: %d px do not fit into the dialog", where, over)
	}
	t.quiet(where)
	dir := os.Getenv("FAIRLEAD_SCREENSHOTS")
	if dir == "" {
		return
	}
	picture := send(t, page.CaptureScreenshot, page.CaptureScreenshotParams{}).Data
	if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("form-%s-%s.png", form, as)), picture, 0o644); err != nil {
		t.Fatal(err)
	}
}
