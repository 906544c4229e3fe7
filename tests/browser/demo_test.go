package browser

import (
	"context"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/server"
)

// demo starts the program with the demo's data.
func demo(t *testing.T) (url string) {
	t.Helper()
	return serve(t, filepath.Join(t.TempDir(), "demo.db"), "--demo")
}

// frozenDemo is what a demo has become after a while.
func frozenDemo(t *testing.T) (url string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "demo.db")
	t.Run("a demo", func(t *testing.T) { ripen(t, serve(t, file, "--demo")) }) // ends with this test
	return freeze(t, file, "", server.Auth{})
}

// ripen waits until a demo has something on each screen: jobs that failed for good, a
// batch that has failures, a sweep under way, a bulk action.
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

// quoted is a text as JavaScript writes it.
func quoted(text string) string { return strconv.Quote(text) }
