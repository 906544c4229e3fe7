package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/fairlead-io/fairlead/internal/patience"
)

// launched is the browser, after a test has started it.
var launched context.Context

// chromium starts the browser once for all tests.
var chromium = sync.OnceValues(func() (context.Context, error) {
	path, err := browserPath()
	if err != nil {
		return nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.WSURLReadTimeout(patience.Limit),
		chromedp.Flag("lang", "en-US"), chromedp.Flag("hide-scrollbars", true))
	allocator, _ := chromedp.NewExecAllocator(context.Background(), options...) // ends with the process
	launched, _ = chromedp.NewContext(allocator)
	return launched, chromedp.Do(launched)
})

func browserPath() (string, error) {
	for _, name := range []string{os.Getenv("FAIRLEAD_TEST_CHROMIUM"), "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); name != "" && err == nil {
			return path, nil
		}
	}
	return "", errNoBrowser
}

var errNoBrowser = errors.New("there is no Chromium: install it (apt-get install chromium), or name it in FAIRLEAD_TEST_CHROMIUM")

// tab is an open page in the browser, with its recorded errors.
type tab struct {
	*testing.T
	ctx  context.Context
	base string

	mu         sync.Mutex
	complaints []string
}

// look is the appearance of a page: screen size, colours and language.
type look struct {
	width, height int64
	dark          bool
	lang          string
	cookies       map[string]string
}

// looks lists the appearances for screenshots: both languages, in light and dark colours,
// on a large, a small and a very large screen.
var looks = []look{
	{width: 1440, height: 900, lang: "en"}, {width: 1440, height: 900, lang: "zh", dark: true}, {width: 375, height: 800, lang: "en"}, {width: 375, height: 800, lang: "zh", dark: true},
	{width: 2560, height: 1300, lang: "en", dark: true},
}

// inEachLanguage runs a test for each language with its looks. A page is loaded once for
// all looks of a language.
func inEachLanguage(t *testing.T, looks []look, test func(t *testing.T, looks []look)) {
	t.Helper()
	for _, lang := range languages {
		t.Run(lang, func(t *testing.T) {
			t.Parallel()
			test(t, slices.DeleteFunc(slices.Clone(looks), func(l look) bool { return l.lang != lang }))
		})
	}
}

// String returns a look as part of a screenshot name: en-1440, zh-375-dark.
func (l look) String() string {
	name := fmt.Sprintf("%s-%d", l.lang, l.width)
	if l.dark {
		name += "-dark"
	}
	return name
}

var wide = look{width: 1440, height: 900, lang: "en"}

// needBrowser returns the browser. Without a browser, it skips the test with a prominent
// message.
func needBrowser(t *testing.T) context.Context {
	t.Helper()
	browser, err := chromium()
	if errors.Is(err, errNoBrowser) {
		t.Skipf("THE CONSOLE IS NOT LOOKED AT: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return browser
}

// open opens a tab for the pages of a server.
func open(t *testing.T, base string, as look) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(needBrowser(t), chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	tab := &tab{T: t, ctx: ctx, base: strings.TrimSuffix(base, "/")}
	tab.listen()
	tab.show(as)
	send(tab, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "Europe/Berlin"})
	cookies := map[string]string{"lang": as.lang, "zone": "Europe%2FBerlin"}
	for name, value := range as.cookies {
		cookies[name] = value
	}
	for name, value := range cookies {
		if value != "" {
			send(tab, network.SetCookie, network.SetCookieParams{Name: name, Value: value, URL: base + "/"})
		}
	}
	return tab
}

// show sets the screen size and the colours of the tab. The open page adapts to them.
func (t *tab) show(as look) {
	t.Helper()
	scheme := "light"
	if as.dark {
		scheme = "dark"
	}
	send(t, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: as.width, Height: as.height, DeviceScaleFactor: 1, Mobile: as.width < 500})
	send(t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}})
	value[bool](t, `new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(() => drawn(true))))`)
}

// send sends a command of the browser's own protocol.
func send[P, R any](t *tab, command cdp.Command[P, R], params P) (result R) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.ctx, patience.Limit)
	defer cancel()
	result, err := chromedp.Run(ctx, func(ctx context.Context, target *chromedp.Target) (R, error) {
		return cdp.Call(ctx, target, command, params)
	})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// listen records script errors, failed requests and violations of the content security
// policy. It stops when the tab ends.
func (t *tab) listen() {
	thrown := chromedp.Events(t.ctx, runtime.ExceptionThrown)
	called := chromedp.Events(t.ctx, runtime.ConsoleAPICalled)
	entered := chromedp.Events(t.ctx, log.EntryAdded)
	send(t, runtime.Enable, cdp.Empty{})
	send(t, log.Enable, cdp.Empty{})
	go func() {
		for event, err := range thrown {
			if err == nil {
				t.complain("exception: " + fmt.Sprint(event.ExceptionDetails))
			}
		}
	}()
	go func() {
		for event, err := range called {
			if err == nil && (event.Type == "error" || event.Type == "warning" || event.Type == "assert") {
				t.complain(fmt.Sprintf("console: %v", event.Args))
			}
		}
	}()
	go func() {
		for event, err := range entered {
			if err == nil && (event.Entry.Level == "error" || event.Entry.Level == "warning") {
				t.complain(fmt.Sprintf("%s: %s %s", event.Entry.Source, event.Entry.Text, event.Entry.URL))
			}
		}
	}()
}

func (t *tab) complain(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.complaints = append(t.complaints, text)
}

// quiet fails the test if errors were recorded since its last call.
func (t *tab) quiet(where string) {
	t.Helper()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, complaint := range t.complaints {
		t.Errorf("%s: %s", where, complaint)
	}
	t.complaints = nil
}

// do performs steps within a time limit.
func (t *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.ctx, patience.Limit)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatal(err)
	}
}

// visit opens a page and waits until its live part is connected.
func (t *tab) visit(path string) {
	t.Helper()
	value[bool](t, `window.pageBefore = true`) // the previous page may remain for a while
	t.do(chromedp.Navigate(t.base + path))
	t.await(`window.pageBefore === undefined && document.readyState === "complete" && document.querySelector("main") !== null && (!document.getElementById("live") || Number(document.getElementById("live").dataset.updates) > 0)`)
}

// await waits until an expression is true, even across a page load.
func (t *tab) await(expression string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.ctx, patience.Limit)
	defer cancel()
	for {
		is, err := chromedp.Run(ctx, chromedp.Evaluate[bool](expression))
		if err == nil && is {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s is not so: %v; %v; the page is %v", expression, err, t.said(), t.where())
		case <-time.After(30 * time.Millisecond):
		}
	}
}

// said returns the recorded errors.
func (t *tab) said() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.complaints)
}

// where returns the address and the state of the page.
func (t *tab) where() string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), 10*time.Second)
	defer cancel()
	found, err := chromedp.Run(ctx, chromedp.Evaluate[string](`[location.href, document.readyState, document.visibilityState, document.getElementById("live")?.outerHTML.slice(0, 200)].join(" ")`))
	if err != nil {
		return err.Error()
	}
	return found
}

// value returns the value of an expression.
func value[V any](t *tab, expression string) V {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.ctx, patience.Limit)
	defer cancel()
	found, err := chromedp.Run(ctx, chromedp.Evaluate[V](expression, awaited))
	if err != nil {
		t.Fatalf("%.200s: %v", expression, err)
	}
	return found
}

// awaited makes an evaluation wait for a promise.
func awaited(params *runtime.EvaluateParams) {
	yes := true
	params.AwaitPromise = &yes
}

// stopBrowser ends the browser if a test has started it.
func stopBrowser() {
	if launched == nil {
		return
	}
	ctx, cancel := context.WithTimeout(launched, patience.Limit)
	defer cancel()
	_ = chromedp.Cancel(ctx) // it ends with this process in any case
}
