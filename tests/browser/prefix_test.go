package browser

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/fairlead-io/fairlead/server"
)

func TestTheConsoleWorksWithinAnotherServer(t *testing.T) {
	t.Parallel()
	const prefix = "/ops/fairlead"
	url := freeze(t, filepath.Join(t.TempDir(), "empty.db"), prefix, server.Auth{})
	tab := open(t, url+prefix, wide)
	tab.visit("/")
	for _, href := range value[[]string](tab, `[...document.querySelectorAll(".nav a")].map(a => a.getAttribute("href"))`) {
		if !strings.HasPrefix(href, prefix+"/") {
			t.Fatalf("the navigation leads to %s", href)
		}
		tab.do(chromedp.Click(chromedp.CSS(`.nav a[href="` + href + `"]`)))
		tab.await(`location.pathname === ` + quoted(href) + ` && document.readyState === "complete"`)
		if strings.HasSuffix(href, "/docs") {
			tab.visit("/")
			continue
		}
		tab.await(`Number(document.getElementById("live").dataset.updates) > 0`)
		tab.quiet(href)
	}
	// Settings also apply below the prefix.
	tab.do(chromedp.Click(chromedp.CSS(`button[value="zh"]`)))
	tab.await(`document.documentElement.lang === "zh-Hans" && location.pathname.startsWith("` + prefix + `/")`)
	tab.quiet("settings")
}
