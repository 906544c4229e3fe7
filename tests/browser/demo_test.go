package browser

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/server"
)

// ripe is a demo that has run for a while. It is created once for all tests.
var ripe struct {
	sync.Mutex
	dir   string   // directory of its database; empty until a test requests it
	paths []string // screens and forms, once a test has collected them
}

// ripeDemo returns the database of a demo that has run for a while. The test may modify it.
func ripeDemo(t *testing.T) (file string) {
	t.Helper()
	ripe.Lock()
	defer ripe.Unlock()
	if ripe.dir == "" {
		dir, err := os.MkdirTemp("", "fairlead-demo-")
		if err != nil {
			t.Fatal(err)
		}
		url, stop := serve(t, filepath.Join(dir, "demo.db"), "--demo")
		ripen(t, url)
		stop()
		ripe.dir = dir
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(ripe.dir)); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "demo.db")
}

// frozenDemo serves the database of a demo that has run for a while and was then stopped.
// It returns the paths of all screens and forms.
func frozenDemo(t *testing.T) (url string, paths []string) {
	t.Helper()
	url = freeze(t, ripeDemo(t), "", server.Auth{})
	ripe.Lock()
	defer ripe.Unlock()
	if ripe.paths == nil {
		ripe.paths = every(open(t, url, wide), func(string) {})
	}
	return url, ripe.paths
}

// ripen waits until a demo has content on each screen: failed jobs, a batch with failures,
// a running sweep, a bulk action.
func ripen(t *testing.T, url string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience.Limit)
	defer cancel()
	for _, path := range []string{"/api/v1/jobs?state=failed&kind=demo.import&page_size=1", "/api/v1/jobs?state=failed&kind=demo.host.upgrade&page_size=1", "/api/v1/sweeps?state=running&page_size=1", "/api/v1/jobs?state=waiting&page_size=1"} {
		for strings.Contains(fetch(t, url+path), `"items":[]`) || !strings.Contains(fetch(t, url+path), `"id"`) {
			select {
			case <-ctx.Done():
				t.Fatalf("%s has nothing", path)
			case <-time.After(200 * time.Millisecond):
			}
		}
	}
	bulk, err := http.Post(url+"/api/v1/bulks", "application/json", strings.NewReader(`{"action":"prioritize","filter":{"state":["scheduled"]},"priority":1,"reason":"to be seen"}`))
	if err != nil {
		t.Fatal(err)
	}
	if bulk.Body.Close(); bulk.StatusCode != http.StatusOK && bulk.StatusCode != http.StatusCreated {
		t.Fatalf("a bulk action is answered with %d", bulk.StatusCode)
	}
}

// quoted returns text as a JavaScript string.
func quoted(text string) string { return strconv.Quote(text) }
