package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
)

const sweepsPath = "/api/v1/sweeps"

// sweepCall is a call that a target got for one item.
type sweepCall struct {
	at      time.Time
	path    string
	index   int64
	attempt int
}

// sweepWorld is the real program, and what its sweeps call.
type sweepWorld struct {
	*testing.T
	args   []string
	node   *process
	target *httptest.Server
	told   chan map[string]any // what gates got

	mu             sync.Mutex
	calls          []sweepCall
	underway, most int
	answer         func(call sweepCall) (status int, body string)
}

// newSweepWorld starts a node with further flags. Its lease is so long that no machine is
// busy enough to look like a crash. A test that kills the node wants a shorter one.
func newSweepWorld(t *testing.T, flags ...string) *sweepWorld {
	t.Parallel()
	w := &sweepWorld{
		T: t, told: make(chan map[string]any, 100), answer: func(sweepCall) (int, string) { return 204, "" },
		args: []string{"--db", sqlitetest.URL(t), "--poll", "50ms", "--beat", "200ms", "--lease", "1m", "--log-level", "info"},
	}
	w.args = append(w.args, flags...)
	mux := http.NewServeMux()
	mux.HandleFunc("/gate", w.serveGate)
	mux.HandleFunc("/", w.serveItem)
	w.target = httptest.NewServer(mux)
	t.Cleanup(w.target.Close)
	w.node = startProcess(t, w.args...)
	return w
}

// serveItem serves the calls of sweeps.
func (w *sweepWorld) serveItem(out http.ResponseWriter, r *http.Request) {
	var body struct {
		Items []struct{ Index, Attempt int64 }
	}
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return // the caller was killed
	}
	if err := json.Unmarshal(raw, &body); err != nil || len(body.Items) != 1 {
		w.Errorf("a call has %s: %v", raw, err)
		return
	}
	call := sweepCall{at: time.Now(), path: r.URL.Path, index: body.Items[0].Index, attempt: int(body.Items[0].Attempt)}
	w.mu.Lock()
	w.calls = append(w.calls, call)
	w.underway++
	w.most = max(w.most, w.underway)
	answer := w.answer
	w.mu.Unlock()
	status, text := answer(call)
	w.mu.Lock()
	w.underway--
	w.mu.Unlock()
	out.WriteHeader(status)
	_, _ = io.WriteString(out, text)
}

// serveGate serves the gate calls of sweeps.
func (w *sweepWorld) serveGate(out http.ResponseWriter, r *http.Request) {
	var told map[string]any
	if err := json.NewDecoder(r.Body).Decode(&told); err != nil {
		w.Errorf("a gate got no JSON: %v", err)
	}
	w.told <- told
	if strings.HasPrefix(fmt.Sprint(told["name"]), "refused") {
		out.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(out, `{"reason":"the list is not ready"}`)
	}
}

// answers says what the target does from now on.
func (w *sweepWorld) answers(answer func(call sweepCall) (status int, body string)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer = answer
}

// holds has calls for some items wait until they are let go.
func (w *sweepWorld) holds(which func(index int64) bool) (release func()) {
	held := make(chan struct{})
	release = sync.OnceFunc(func() { close(held) })
	w.Cleanup(release)
	w.answers(func(call sweepCall) (int, string) {
		if which(call.index) {
			<-held
		}
		return 204, ""
	})
	return release
}

// seen returns the calls that the target received so far.
func (w *sweepWorld) seen() []sweepCall {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.calls)
}

// inFlight returns the number of unanswered calls.
func (w *sweepWorld) inFlight() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.underway
}

// ask sends a request and expects a status.
func (w *sweepWorld) ask(want int, verb, path, body string) map[string]any {
	w.Helper()
	request, err := http.NewRequestWithContext(w.Context(), verb, w.node.url+path, strings.NewReader(body))
	if err != nil {
		w.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		w.Fatal(err)
	}
	defer response.Body.Close()
	answer := map[string]any{}
	err = json.NewDecoder(response.Body).Decode(&answer)
	if err != nil || response.StatusCode != want {
		w.Fatalf("%s %s %s answered %s, want %d: %v %v", verb, path, body, response.Status, want, answer, err)
	}
	return answer
}

// create creates a sweep with the given fields. Its items are sent to the target.
func (w *sweepWorld) create(name, fields string) (path string) {
	w.Helper()
	w.ask(200, "POST", sweepsPath, fmt.Sprintf(`{"name":%q,"kind":"http","args":{"url":"%s/first"},"backoff":"0.01s",%s}`, name, w.target.URL, fields))
	return sweepsPath + "/" + name
}

// start creates a sweep and starts it.
func (w *sweepWorld) start(name, fields string) (path string) {
	w.Helper()
	path = w.create(name, fields)
	w.ask(200, "POST", path+"/start", `{}`)
	return path
}

// eventually waits until something holds.
func (w *sweepWorld) eventually(what string, holds func() bool) {
	w.Helper()
	for begun := time.Now(); !holds(); <-time.After(10 * time.Millisecond) {
		if time.Since(begun) > patience.Limit {
			w.Fatalf("it is never so that %s", what)
		}
	}
}

// untilQuiet waits until a node that runs a sweep has seen an order: it begins nothing later
// than a second after it last looked.
func (w *sweepWorld) untilQuiet() {
	w.Helper()
	const while = 1500 * time.Millisecond
	for sent := -1; sent != len(w.seen()); <-time.After(while) {
		sent = len(w.seen())
	}
}

// until waits for a sweep to be in a state.
func (w *sweepWorld) until(path, state string) (sweep map[string]any) {
	w.Helper()
	for begun := time.Now(); time.Since(begun) < patience.Limit; <-time.After(10 * time.Millisecond) {
		sweep = w.ask(200, "GET", path, "")
		if sweep["state"] == state {
			return sweep
		}
		if sweep["state"] == "stopped" || sweep["state"] == "finished" {
			break
		}
	}
	w.Fatalf("it is %v (%v), and was to be %s: %v", sweep["state"], sweep["reason"], state, sweep["progress"])
	return nil
}

// gateTold waits for a gate to be called.
func (w *sweepWorld) gateTold() map[string]any {
	w.Helper()
	select {
	case told := <-w.told:
		return told
	case <-time.After(patience.Limit):
		w.Fatal("the gate is never called")
		return nil
	}
}

// wantProgress compares how far a sweep has come.
func (w *sweepWorld) wantProgress(sweep map[string]any, want map[string]string) {
	w.Helper()
	progress := sweep["progress"].(map[string]any)
	for field, value := range want {
		if progress[field] != value {
			w.Errorf("%s is %v, want %s: %v", field, progress[field], value, progress)
		}
	}
}

// wantAll expects every item to have been sent, and returns how many were sent again.
func (w *sweepWorld) wantAll(items int64) (again int) {
	w.Helper()
	times := map[int64]int{}
	for _, call := range w.seen() {
		if times[call.index]++; times[call.index] > 1 {
			again++
		}
	}
	for i := range items {
		if times[i] == 0 {
			w.Errorf("item %d was never sent", i)
		}
	}
	if len(times) != int(items) {
		w.Errorf("%d items were sent, there are %d", len(times), items)
	}
	return again
}
