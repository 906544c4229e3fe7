package browser

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"

	"github.com/fairlead-io/fairlead/internal/tier"
)

// every visits all screens and forms of a server, found like a user finds them: through the
// navigation, the first row of each list, and buttons. It calls see for each of them and
// returns their paths.
func every(t *tab, see func(path string)) (paths []string) {
	t.Helper()
	const links = `[...document.querySelectorAll(%q)].map(a => a.getAttribute("href"))`
	t.visit("/")
	seen := map[string]bool{}
	add := func(href string) bool {
		path := strings.TrimPrefix(href, prefixOf(t))
		where, _, _ := strings.Cut(path, "?")
		if seen[where] || where == "/docs" {
			return false
		}
		seen[where] = true
		paths = append(paths, path)
		return true
	}
	for _, href := range value[[]string](t, fmt.Sprintf(links, ".nav a")) {
		add(href)
	}
	for i := 0; i < len(paths); i++ {
		t.visit(paths[i])
		kinds := map[string]bool{}
		for _, href := range value[[]string](t, fmt.Sprintf(links, `[data-row]:first-child a[href], main .tabs a[href], main .actions a[href], main .like a[href]`)) {
			parts := strings.Split(strings.Split(strings.TrimPrefix(href, prefixOf(t)), "?")[0], "/")
			kind := parts[1] + fmt.Sprint(len(parts)) + parts[len(parts)-1]
			if len(parts) > 2 {
				kind = parts[1] + fmt.Sprint(len(parts)) // the first page of each type of object is enough
			}
			if len(parts) > 3 {
				kind += parts[3]
			}
			if !kinds[kind] && len(paths) < 150 {
				kinds[kind] = true
				add(href)
			}
		}
		see(paths[i])
	}
	return paths
}

// states returns what every does not reach: the list of the jobs of each state, the newest
// job in each state, and a search.
func states(t *tab) (paths []string) {
	t.Helper()
	for _, state := range []string{"scheduled", "parked", "ready", "running", "waiting", "succeeded", "failed", "cancelled", "skipped"} {
		list := "/jobs?state=" + state
		t.visit(list)
		paths = append(paths, list)
		for _, href := range value[[]string](t, `[...document.querySelectorAll('[data-row]:first-child td:not(.pick) a[href*="/jobs/"]')].map(a => a.getAttribute("href"))`) {
			paths = append(paths, strings.TrimPrefix(href, prefixOf(t)))
		}
	}
	return append(paths, "/find?q=e")
}

func prefixOf(t *tab) string {
	return value[string](t, `document.documentElement.dataset.prefix`)
}

// finding is a finding of axe.
type finding struct {
	ID, Impact, Help string
	Nodes            []struct{ HTML, FailureSummary string }
}

// accessible fails the test if axe has serious findings. It preloads nothing, because
// preloading serves rules about audio and video, which the console does not have.
func (t *tab) accessible(where string) {
	t.Helper()
	if !value[bool](t, `window.axe !== undefined`) {
		script, err := os.ReadFile(filepath.Join("testdata", "axe.min.js"))
		if err != nil {
			t.Fatal(err)
		}
		value[bool](t, string(script)+"; true")
	}
	raw := value[string](t, `axe.run(document, {resultTypes: ["violations"], preload: false, selectors: false}).then(found => JSON.stringify(found.violations))`)
	var findings []finding
	if err := json.Unmarshal([]byte(raw), &findings); err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		if f.Impact != "serious" && f.Impact != "critical" {
			continue
		}
		for _, node := range f.Nodes {
			t.Errorf("%s: %s: %s: %s: %s", where, f.Impact, f.Help, node.HTML, node.FailureSummary)
		}
	}
}

// fits fails the test if a page is wider than the screen.
func (t *tab) fits(where string) {
	t.Helper()
	if over := value[int](t, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
		widest := value[[]string](t, `[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(".table, .nav, pre, .scroll")).slice(0, 3).map(e => e.outerHTML.slice(0, 160))`)
		t.Errorf("%s: %d px do not fit: %q", where, over, widest)
	}
}

func TestEveryScreenIsSoundInEveryLook(t *testing.T) {
	tier.Long(t, "every screen of a demo that has run for a while, in every look")
	t.Parallel()
	url, _ := serve(t, ripeDemo(t), "--demo")
	all := []look{
		{width: 1440, height: 900, lang: "en"}, {width: 375, height: 800, lang: "en", dark: true}, {width: 2560, height: 1300, lang: "en"},
		{width: 1440, height: 900, lang: "zh", dark: true}, {width: 375, height: 800, lang: "zh"},
	}
	inEachLanguage(t, all, func(t *testing.T, looks []look) {
		tab := open(t, url, looks[0])
		look := func(path string) {
			for _, as := range looks {
				where := fmt.Sprintf("%s, %s", path, as)
				tab.show(as)
				tab.accessible(where)
				tab.fits(where)
				tab.quiet(where)
			}
			tab.show(looks[0])
		}
		paths := every(tab, look)
		for _, path := range states(tab) {
			tab.visit(path)
			look(path)
			paths = append(paths, path)
		}
		t.Logf("%d screens: %q", len(paths), paths)
	})
}

func TestScreenshots(t *testing.T) {
	dir := os.Getenv("FAIRLEAD_SCREENSHOTS")
	if dir == "" {
		t.Skip("make screenshots takes them")
	}
	url, _ := serve(t, ripeDemo(t), "--demo")
	first := open(t, url, wide)
	paths := append(every(first, func(string) {}), states(first)...)
	for _, as := range looks {
		tab := open(t, url, as)
		for _, path := range paths {
			tab.visit(path)
			beyond := true
			picture := send(tab, page.CaptureScreenshot, page.CaptureScreenshotParams{CaptureBeyondViewport: &beyond}).Data
			name := strings.Trim(strings.NewReplacer("/", "-", "?state=", "-", "?q=", "-").Replace(path), "-")
			name, _, _ = strings.Cut(name, "?")
			if name == "" {
				name = "overview"
			}
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%s.png", name, as)), picture, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
