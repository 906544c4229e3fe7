package browser

import (
	"io"
	"net"
	"net/url"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/server"
)

// faltering forwards bytes between browsers and a server. While it is locked, both ends
// stay connected and receive nothing, like with a server that hangs.
type faltering struct {
	sync.RWMutex
	to string // host and port of the server
}

// falter starts a faltering connection to a server and returns its address.
func falter(t *testing.T, server string) (*faltering, string) {
	t.Helper()
	behind, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	f := &faltering{to: behind.Host}
	go func() { // ends with the listener
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go f.carry(conn)
		}
	}()
	return f, "http://" + listener.Addr().String()
}

// carry joins a browser and the server until one of them closes the connection.
func (f *faltering) carry(browser net.Conn) {
	defer browser.Close()
	server, err := net.Dial("tcp", f.to)
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		_, _ = io.Copy(f.through(server), browser)
		_ = server.Close()
	}()
	_, _ = io.Copy(f.through(browser), server)
}

// through returns a writer that waits while f is locked.
func (f *faltering) through(to net.Conn) io.Writer { return &held{f, to} }

type held struct {
	by *faltering
	to net.Conn
}

// Write implements io.Writer.
func (h *held) Write(p []byte) (int, error) {
	h.by.RLock()
	defer h.by.RUnlock()
	return h.to.Write(p)
}

// TestAPageSaysThatItsServerHangs interrupts the traffic between the browser and the
// server, and then resumes it.
func TestAPageSaysThatItsServerHangs(t *testing.T) {
	tier.Long(t, "waits twelve seconds for a page to miss its server")
	t.Parallel()
	wire, url := falter(t, freeze(t, ripeDemo(t), "", server.Auth{}))
	tab := open(t, url, wide)
	tab.visit("/queues")
	wire.Lock()
	tab.await(`!document.getElementById("stale").hidden && /\d\d:\d\d:\d\d/.test(document.getElementById("stale").textContent)`)
	value[bool](tab, `(() => { document.querySelector("a[data-dialog]").click(); return true; })()`)
	tab.await(`document.documentElement.classList.contains("busy")`)
	wire.Unlock()
	tab.await(`document.getElementById("dialog").open && document.getElementById("stale").hidden && !document.documentElement.classList.contains("busy")`)
	tab.quiet("a server that hangs")
}

// TestAPagePausesItsUpdates pauses the updates of a page of the running demo while another
// page continues.
func TestAPagePausesItsUpdates(t *testing.T) {
	tier.Long(t, "waits for updates of a demo")
	t.Parallel()
	url, _ := serve(t, filepath.Join(t.TempDir(), "demo.db"), "--demo")
	paused, live := open(t, url, wide), open(t, url, wide)
	paused.visit("/")
	live.visit("/")
	value[bool](paused, `(() => { document.getElementById("pause").click(); window.then = document.getElementById("live").dataset.updates; return true; })()`)
	before := value[int](live, `Number(document.getElementById("live").dataset.updates)`)
	live.updated(before + 3)
	if !value[bool](paused, `window.then === document.getElementById("live").dataset.updates && document.getElementById("stale").hidden`) {
		t.Error("a page that is paused was updated, or says that it is out of date")
	}
	value[bool](paused, `(() => { document.getElementById("pause").click(); return true; })()`)
	paused.await(`window.then === undefined && Number(document.getElementById("live")?.dataset.updates) > 0 && document.getElementById("pause").getAttribute("aria-pressed") === "false"`)
	paused.quiet("pause")
}

// updated waits until the live part of a page has been updated a number of times in total.
func (t *tab) updated(times int) {
	t.Helper()
	t.await(`Number(document.getElementById("live").dataset.updates) >= ` + strconv.Itoa(times))
}
