package browser

import (
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/server"
)

// TestAPageThatChangesKeepsWhatAPersonDoes checks that updates of a page of the running
// demo preserve focus, scroll position, typed text and open elements.
func TestAPageThatChangesKeepsWhatAPersonDoes(t *testing.T) {
	tier.Long(t, "waits for updates of a demo")
	t.Parallel()
	url, _ := serve(t, filepath.Join(t.TempDir(), "demo.db"), "--demo")
	tab := open(t, url, look{width: 1000, height: 500, lang: "en"})
	updated := func(times int) {
		t.Helper()
		tab.updated(value[int](tab, `Number(document.getElementById("live").dataset.updates)`) + times)
	}
	tab.visit("/")
	value[bool](tab, `(() => {
		const link = document.querySelector("#figures a");
		link.marked = true;
		link.focus({preventScroll: true});
		scrollTo(0, 150);
		window.canvas = document.querySelector("#throughput-chart canvas");
		return true;
	})()`)
	updated(3)
	if !value[bool](tab, `document.activeElement.marked === true`) {
		t.Error("the focus is lost")
	}
	if at := value[float64](tab, `scrollY`); at != 150 {
		t.Errorf("the page is scrolled to %v", at)
	}
	if !value[bool](tab, `window.canvas !== null && window.canvas.isConnected`) {
		t.Error("the chart was made anew")
	}
	tab.visit("/jobs")
	tab.do(chromedp.SendKeys(chromedp.CSS(`input[name="kind"]`), "demo.inv"))
	updated(2)
	if typed := value[string](tab, `document.activeElement.name + "=" + document.activeElement.value`); typed != "kind=demo.inv" {
		t.Errorf("what was typed is %q", typed)
	}
	tab.quiet("live")
}

// TestThePaletteFindsAJob opens the palette with its key and follows a result.
func TestThePaletteFindsAJob(t *testing.T) {
	tier.Long(t, "looks for a job of a demo that has run for a while")
	t.Parallel()
	url := freeze(t, ripeDemo(t), "", server.Auth{})
	tab := open(t, url, wide)
	tab.visit("/")
	tab.find("17", "/jobs/17")
}
