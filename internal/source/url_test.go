package source_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/internal/source"
	"github.com/fairlead-io/fairlead/internal/tier"
)

// host serves a list and counts the bytes that it sends.
type host struct {
	*httptest.Server
	content  atomic.Pointer[string]
	etag     atomic.Value // a string
	ranges   bool
	length   bool // send the length without supporting ranges
	sent     atomic.Int64
	requests atomic.Int64
	fail     atomic.Int64 // number of requests to answer with status 503
	cut      atomic.Int64 // number of responses to truncate
}

func serve(t testing.TB, content string, ranges bool) *host {
	h := &host{ranges: ranges, length: true}
	h.content.Store(&content)
	h.etag.Store(`"v1"`)
	h.Server = httptest.NewServer(http.HandlerFunc(h.answer))
	t.Cleanup(h.Close)
	return h
}

// counted counts bytes and may truncate the response.
type counted struct {
	http.ResponseWriter
	h    *host
	left int64
}

func (c *counted) Write(p []byte) (int, error) {
	if c.left >= 0 && int64(len(p)) > c.left {
		panic(http.ErrAbortHandler)
	}
	if c.left >= 0 {
		c.left -= int64(len(p))
	}
	n, err := c.ResponseWriter.Write(p)
	c.h.sent.Add(int64(n))
	return n, err
}

func (h *host) answer(w http.ResponseWriter, r *http.Request) {
	h.requests.Add(1)
	if h.fail.Add(-1) >= 0 {
		http.Error(w, "busy", http.StatusServiceUnavailable)
		return
	}
	out := &counted{ResponseWriter: w, h: h, left: -1}
	if h.cut.Add(-1) >= 0 {
		out.left = 100_000
	}
	content := strings.NewReader(*h.content.Load())
	w.Header().Set("ETag", h.etag.Load().(string))
	if h.ranges {
		http.ServeContent(out, r, "", time.Time{}, content)
		return
	}
	if match := r.Header.Get("If-Match"); match != "" && match != h.etag.Load() {
		w.WriteHeader(http.StatusPreconditionFailed)
		return
	}
	if h.length {
		w.Header().Set("Content-Length", fmt.Sprint(content.Len()))
	}
	_, _ = io.Copy(struct{ io.Writer }{out}, struct{ io.Reader }{content}) // a client that disconnects has read enough
}

func (h *host) open(t testing.TB, options source.Options) *source.Lines {
	t.Helper()
	options.Client = h.Client()
	lines, err := source.URL(h.URL+"/list?token=secret", options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lines.Close() })
	return lines
}

func numbered(n int) string {
	var list strings.Builder
	for i := range n {
		fmt.Fprintf(&list, "user-%d\n", i)
	}
	return list.String()
}

func TestLinesOfAURL(t *testing.T) {
	const n = 200_000 // several blocks
	content := numbered(n)
	for name, configure := range map[string]func(*host){
		"with ranges":       func(h *host) { h.ranges = true },
		"without ranges":    func(*host) {},
		"of unknown length": func(h *host) { h.length = false },
		"with weak ETag":    func(h *host) { h.ranges = true; h.etag.Store(`W/"v1"`) },
		"failing at times":  func(h *host) { h.ranges = true; h.fail.Store(2) },
		"cut at times":      func(h *host) { h.ranges = true; h.cut.Store(3) },
		"cut streams":       func(h *host) { h.cut.Store(3) },
	} {
		t.Run(name, func(t *testing.T) {
			h := serve(t, content, false)
			configure(h)
			lines := h.open(t, source.Options{})
			if _, got, err := lines.Bounds(t.Context()); err != nil || got != n {
				t.Fatalf("%d lines: %v", got, err)
			}
			at := int64(0)
			items := make([]source.Item, 1000)
			for at < n {
				got, next, err := lines.Read(t.Context(), at, n, items)
				if err != nil {
					t.Fatal(err)
				}
				for _, item := range items[:got] {
					if want := fmt.Sprintf("user-%d", item.Index); string(item.Data) != want {
						t.Fatalf("line %d is %q", item.Index, item.Data)
					}
				}
				at = next
			}
			for _, i := range []int64{n - 1, 0, 77_777, 150_000, 77_778} {
				if got := read(t, lines, i, i+1, 1); got[0] != fmt.Sprintf("user-%d", i) {
					t.Errorf("line %d is %q", i, got)
				}
			}
		})
	}
}

// Items of the same window that a sweep has left undone are read together.
func TestLinesNearEachOtherAreReadTogether(t *testing.T) {
	const n = 50_000 // smaller than a block
	h := serve(t, numbered(n), true)
	lines := h.open(t, source.Options{Samples: 1000})
	if _, _, err := lines.Bounds(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := h.requests.Load()
	for from := int64(0); from < n; from += 3000 {
		if got := read(t, lines, from, n, 1); got[0] != fmt.Sprintf("user-%d", from) {
			t.Errorf("line %d is %q", from, got)
		}
	}
	if asked := h.requests.Load() - before; asked != 1 {
		t.Errorf("it was asked for %d times", asked)
	}
}

func TestAnEmptyURL(t *testing.T) {
	for _, ranges := range []bool{true, false} {
		lines := serve(t, "", ranges).open(t, source.Options{})
		if _, n, err := lines.Bounds(t.Context()); err != nil || n != 0 {
			t.Errorf("%d lines: %v", n, err)
		}
	}
}

func TestAChangedURLIsNoticed(t *testing.T) {
	for name, c := range map[string]struct {
		ranges bool
		etag   string
		change func(content string) string
	}{
		"by ETag":                 {true, `"v2"`, func(s string) string { return s }},
		"by ETag, without ranges": {false, `"v2"`, func(s string) string { return s }},
		"by length":               {true, "", func(s string) string { return s + "more\n" }},
		"by length, no ranges":    {false, "", func(s string) string { return s + "more\n" }},
	} {
		t.Run(name, func(t *testing.T) {
			h := serve(t, numbered(250_000), c.ranges)
			if c.etag == "" {
				h.etag.Store("")
			}
			lines := h.open(t, source.Options{})
			_, n, err := lines.Bounds(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			state, err := lines.State()
			if err != nil {
				t.Fatal(err)
			}
			read(t, lines, 0, 10, 10)
			changed := c.change(*h.content.Load())
			h.content.Store(&changed)
			h.etag.Store(c.etag)
			_, _, err = lines.Read(t.Context(), n-10, n, make([]source.Item, 10))
			if c.ranges && !errors.Is(err, source.ErrChanged) { // a stream may continue with the old content
				t.Errorf("while reading the change was not noticed: %v", err)
			}
			later := h.open(t, source.Options{})
			if err := later.Restore(state); err != nil {
				t.Fatal(err)
			}
			if _, _, err := later.Bounds(t.Context()); !errors.Is(err, source.ErrChanged) {
				t.Errorf("by another process the change was not noticed: %v", err)
			}
		})
	}
}

func TestErrorsOfURLsKeepSecrets(t *testing.T) {
	h := serve(t, "", true)
	h.Close()
	_, _, err := h.open(t, source.Options{}).Bounds(t.Context())
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("the error is %v", err)
	}
	for _, address := range []string{"ftp://host/list", "/list", "http://", "http://a b/?secret", "file:///etc/passwd"} {
		if _, err := source.URL(address, source.Options{Client: http.DefaultClient}); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", address, err)
		}
	}
	if _, err := source.URL("http://host/", source.Options{}); err == nil {
		t.Error("no client is needed")
	}
}

// The list of a sweep over five million users is counted once, even if the process dies
// during the count.
func TestFiveMillionLinesAreCountedOnceWhateverCrashes(t *testing.T) {
	n := tier.Size(t, 300_000, 5_000_000, "a list of five million lines")
	content := numbered(n)
	size := int64(len(content))
	for name, ranges := range map[string]bool{"with ranges": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			h := serve(t, content, ranges)
			var state json.RawMessage
			crash := errors.New("crash")
			dying := h.open(t, source.Options{SaveEvery: 1, Save: func(_ context.Context, s json.RawMessage) error {
				state = append(state[:0], s...)
				if h.sent.Load() > size/2 {
					return crash
				}
				return nil
			}})
			if _, _, err := dying.Bounds(t.Context()); !errors.Is(err, crash) {
				t.Fatalf("it did not crash: %v", err)
			}
			before := h.sent.Load()
			var memory runtime.MemStats
			runtime.ReadMemStats(&memory)
			allocated := memory.TotalAlloc
			lines := h.open(t, source.Options{})
			if err := lines.Restore(state); err != nil {
				t.Fatal(err)
			}
			if _, got, err := lines.Bounds(t.Context()); err != nil || got != int64(n) {
				t.Fatalf("%d lines: %v", got, err)
			}
			runtime.ReadMemStats(&memory)
			t.Logf("%d bytes, %d sent before the crash and %d after it, %d allocated, state of %d bytes",
				size, before, h.sent.Load()-before, memory.TotalAlloc-allocated, len(state))
			if again := h.sent.Load() - size; ranges && again > 5<<20 {
				t.Errorf("%d bytes were sent twice", again)
			}
			if memory.TotalAlloc-allocated > 16<<20 {
				t.Errorf("counting allocated %d bytes", memory.TotalAlloc-allocated)
			}
			before = h.sent.Load()
			if got := read(t, lines, int64(n)-3, int64(n), 3); got[2] != fmt.Sprintf("user-%d", n-1) {
				t.Errorf("the last lines are %q", got)
			}
			if sent := h.sent.Load() - before; ranges && sent > 2<<20 {
				t.Errorf("%d bytes were sent for three lines", sent)
			}
		})
	}
}
