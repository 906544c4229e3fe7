package console

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/internal/patience"
	"github.com/fairlead-io/fairlead/server"
	"github.com/fairlead-io/fairlead/sqlite"
)

// rig is a console of a real service on SQLite.
type rig struct {
	*testing.T
	api     http.Handler
	console *Console
	node    *engine.Engine
	stale   bool   // something was changed since the console was made
	token   string // who looks; empty: no token is asked for
}

// newRig makes a service that asks for no token. Its node does not run.
func newRig(t *testing.T) *rig { return rigWith(t, server.Auth{}) }

// newGuardedRig makes a service whose admin has the rig's token.
func newGuardedRig(t *testing.T) *rig {
	const admin = "the-admins-token"
	r := rigWith(t, server.Auth{Required: true, Admin: new(sha256.Sum256([]byte(admin)))})
	r.token = admin
	return r
}

func rigWith(t *testing.T, auth server.Auth) *rig {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "jobs.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	log := slog.New(slog.DiscardHandler)
	mux := fairlead.NewMux()
	mux.Handle("noop", fairlead.HandlerOptions{}, fairlead.HandlerFunc(func(context.Context, *fairlead.Job) error { return nil }))
	mux.Handle("broken", fairlead.HandlerOptions{}, fairlead.HandlerFunc(func(context.Context, *fairlead.Job) error { return fairlead.Fatal(errors.New("it is broken")) }))
	node, err := engine.New(store, mux, engine.Options{Name: "here", Slots: 4, Poll: 20 * time.Millisecond, Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	api, err := server.New(node, store, server.Options{Version: "test", Log: log, Auth: auth})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{T: t, api: api, node: node}
	r.renew()
	return r
}

// renew makes the console anew: what it has read before counts no more.
func (r *rig) renew() {
	r.Helper()
	r.stale = false
	var err error
	if r.console, err = New(r.api, Options{Version: "test", Log: slog.New(slog.DiscardHandler)}); err != nil {
		r.Fatal(err)
	}
}

// runs runs the node until the test ends.
func (r *rig) runs() {
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.node.Run(ctx) }()
	r.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			r.Error(err)
		}
	})
}

// request is one from this machine, by who looks.
func (r *rig) request(verb, path, body string) *http.Request {
	request := httptest.NewRequestWithContext(r.Context(), verb, path, strings.NewReader(body))
	request.Host, request.RemoteAddr = "127.0.0.1", "127.0.0.1:1234"
	return request
}

// asks calls the API, which must succeed, and returns its answer. Pages know of what it
// changed at once.
func (r *rig) asks(verb, path, body string) (answer map[string]any) {
	r.Helper()
	request := r.request(verb, path, body)
	if r.token != "" {
		request.Header.Set("Authorization", "Bearer "+r.token)
	}
	recorder := httptest.NewRecorder()
	r.api.ServeHTTP(recorder, request)
	raw, err := io.ReadAll(recorder.Body)
	if err != nil {
		r.Fatal(err)
	}
	if recorder.Code != http.StatusOK {
		r.Fatalf("%s %s: %d: %s", verb, path, recorder.Code, raw)
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		r.Fatalf("%s %s: %v in %s", verb, path, err, raw)
	}
	r.stale = r.stale || verb != http.MethodGet
	return answer
}

// as is the same rig, looked at by another with a token of a role and of some tenants.
func (r *rig) as(role string, tenants ...string) *rig {
	r.Helper()
	asked, err := json.Marshal(map[string]any{"name": role + strings.Join(tenants, ""), "role": role, "tenants": tenants})
	if err != nil {
		r.Fatal(err)
	}
	other := *r
	other.token = r.asks("POST", "/api/v1/tokens", string(asked))["secret"].(string)
	return &other
}

// page looks at a page, which must have a status, with cookies given as names and values.
func (r *rig) page(want int, path string, cookies ...string) string {
	r.Helper()
	if r.stale {
		r.renew()
	}
	request := r.request("GET", path, "")
	if r.token != "" {
		request.AddCookie(&http.Cookie{Name: sessionCookie, Value: r.token})
	}
	for i := 0; i+1 < len(cookies); i += 2 {
		request.AddCookie(&http.Cookie{Name: cookies[i], Value: cookies[i+1]})
	}
	recorder := httptest.NewRecorder()
	r.console.ServeHTTP(recorder, request)
	if recorder.Code != want {
		r.Fatalf("%s: %d, want %d: %s", path, recorder.Code, want, recorder.Body)
	}
	return recorder.Body.String()
}

// shows expects texts on a page.
func (r *rig) shows(page string, wants ...string) {
	r.Helper()
	for _, want := range wants {
		if !strings.Contains(page, want) {
			r.Errorf("%q is not in\n%s", want, page[max(0, strings.Index(page, "<main")):])
		}
	}
}

// hides expects texts not to be on a page.
func (r *rig) hides(page string, unwanted ...string) {
	r.Helper()
	for _, text := range unwanted {
		if strings.Contains(page, text) {
			r.Errorf("%q is in\n%s", text, page[max(0, strings.Index(page, "<main")):])
		}
	}
}

var (
	rowPattern  = regexp.MustCompile(`<[^>]* data-row id="([^"]*)"`)
	nextPattern = regexp.MustCompile(`<a href="([^"]*)"[^>]* data-next`)
)

// rows are the ids of the rows of a list, from all its pages.
func (r *rig) rows(path string) (ids []string) {
	r.Helper()
	for pages := 0; path != ""; pages++ {
		if pages > 100 {
			r.Fatalf("%s leads to no end", path)
		}
		page := r.page(http.StatusOK, path)
		for _, found := range rowPattern.FindAllStringSubmatch(page, -1) {
			ids = append(ids, found[1])
		}
		path = ""
		if next := nextPattern.FindStringSubmatch(page); next != nil {
			path = strings.ReplaceAll(next[1], "&amp;", "&")
		}
	}
	return ids
}

// until waits for something to be so.
func (r *rig) until(what string, so func() bool) {
	r.Helper()
	deadline := time.After(patience.Limit)
	ticks := time.NewTicker(10 * time.Millisecond)
	defer ticks.Stop()
	for !so() {
		select {
		case <-deadline:
			r.Fatalf("waited too long until %s", what)
		case <-ticks.C:
		}
	}
}
