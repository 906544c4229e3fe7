package browser

import (
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"

	"github.com/fairlead-io/fairlead/server"
)

// TestAPageStaysWhenTheSystemTurnsDark checks that a change to dark colours preserves typed
// text: only the charts are redrawn.
func TestAPageStaysWhenTheSystemTurnsDark(t *testing.T) {
	t.Parallel()
	url := freeze(t, filepath.Join(t.TempDir(), "empty.db"), "", server.Auth{})
	tab := open(t, url, wide)
	tab.visit("/")
	tab.await(`document.querySelector("#throughput-chart canvas") !== null`)
	value[bool](tab, `(() => { window.stays = true; window.drawn = document.querySelector("#throughput-chart canvas"); return true; })()`)
	send(tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}})
	tab.await(`document.querySelector("#throughput-chart canvas") !== window.drawn`)
	if !value[bool](tab, `window.stays === true`) {
		t.Error("the page was loaded again")
	}
	tab.quiet("dark")
}
