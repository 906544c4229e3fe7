package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/internal/patience"
)

// night is a running program with a person who looks at its overview.
type night struct {
	*person
	url    string
	target *target
}

// newNight starts the program with an empty database, without a person.
func newNight(t *testing.T, flags ...string) *night {
	t.Helper()
	needBrowser(t)
	return startNight(t, filepath.Join(t.TempDir(), "night.db"), flags...)
}

// startNight starts the program with a database.
func startNight(t *testing.T, file string, flags ...string) *night {
	t.Helper()
	url, _ := serveNight(t, file, flags...)
	return &night{person: &person{tab: &tab{T: t}}, url: url, target: newTarget(t)}
}

// serveNight starts a program that may call targets on this machine, however long the calls
// take and however often they fail.
func serveNight(t *testing.T, file string, flags ...string) (url string, stop func()) {
	t.Helper()
	return serve(t, file, append([]string{"--allow-target", "127.0.0.0/8", "--target-max-failures", "0", "--request-timeout", "10m", "--node-name", "worker-1"}, flags...)...)
}

// wakes opens the overview.
func (n *night) wakes() {
	n.Helper()
	n.wakesAt(n.url)
}

func (n *night) wakesAt(url string) {
	n.Helper()
	n.tab = open(n.T, url, wide)
	n.visit("/")
}

// ask sends a request to the API and fails unless it succeeds.
func (n *night) ask(method, path, body string) []byte {
	n.Helper()
	request, err := http.NewRequestWithContext(n.Context(), method, n.url+"/api/v1"+path, strings.NewReader(body))
	if err != nil {
		n.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		n.Fatal(err)
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode >= 300 {
		n.Fatalf("%s %s: %d %s, %v", method, path, answer.StatusCode, content, err)
	}
	return content
}

// read returns the answer to a GET request.
func read[V any](n *night, path string) (answer V) {
	n.Helper()
	if err := json.Unmarshal(n.ask(http.MethodGet, path, ""), &answer); err != nil {
		n.Fatal(err)
	}
	return answer
}

// count returns the number of jobs that match a query.
func (n *night) count(query string) int {
	n.Helper()
	return read[struct{ Total int }](n, "/jobs/count?"+query).Total
}

// awaits waits until a condition holds.
func (n *night) awaits(what string, is func() bool) {
	n.Helper()
	ctx, cancel := context.WithTimeout(n.Context(), patience.Limit)
	defer cancel()
	for !is() {
		select {
		case <-ctx.Done():
			n.Fatalf("never: %s", what)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// enqueue stores jobs, given as JSON objects, and returns their IDs.
func (n *night) enqueue(jobs ...string) []string {
	n.Helper()
	var answer struct{ IDs []string }
	if err := json.Unmarshal(n.ask(http.MethodPost, "/jobs", `{"jobs":[`+strings.Join(jobs, ",")+`]}`), &answer); err != nil {
		n.Fatal(err)
	}
	return answer.IDs
}

// call returns a job that calls the target once.
func (n *night) call(path, fields string) string {
	return fmt.Sprintf(`{"kind":"http","max_attempts":1,"args":{"url":%q}%s}`, n.target.URL+path, fields)
}

// target is a service that jobs call. Calls to /hang last until release is called, and a
// path with a status fails with this status until fixed is set.
type target struct {
	*httptest.Server
	release func()

	mu    sync.Mutex
	fixed bool
	calls map[string]int // by path
}

func newTarget(t *testing.T) *target {
	released := make(chan struct{})
	to := &target{calls: map[string]int{}, release: sync.OnceFunc(func() { close(released) })}
	to.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to.mu.Lock()
		to.calls[r.URL.Path]++
		fixed := to.fixed
		to.mu.Unlock()
		var status int
		switch n, _ := fmt.Sscanf(r.URL.Path, "/fails-with-%d", &status); {
		case r.URL.Path == "/hang":
			select {
			case <-released:
			case <-r.Context().Done():
			}
		case n == 1 && !fixed:
			w.WriteHeader(status)
		}
	}))
	t.Cleanup(func() {
		to.release()
		to.Close()
	})
	return to
}

// called returns the number of calls of a path.
func (to *target) called(path string) int {
	to.mu.Lock()
	defer to.mu.Unlock()
	return to.calls[path]
}

// fix makes further calls succeed.
func (to *target) fix() {
	to.mu.Lock()
	defer to.mu.Unlock()
	to.fixed = true
}
