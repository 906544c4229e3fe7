package console

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/api/fairlead/v1/fairleadv1connect"
	"github.com/fairlead-io/fairlead/bulk"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/httpcall"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/server"
	"github.com/fairlead-io/fairlead/sqlite"
)

// rig is a console before a real service on SQLite. No node runs unless the test starts
// it.
type rig struct {
	*testing.T
	store   *sqlite.Store
	jobs    *fairlead.Client
	api     http.Handler // the service, with the console at its "/"
	console *Console
	node    *engine.Engine

	calls, lookups atomic.Int64 // of the API by the console, but for WhoAmI, and of tokens
	outage         outage
}

// counting is a store that counts the lookups of tokens, and fails on command.
type counting struct {
	*sqlite.Store
	lookups *atomic.Int64
	outage  *outage
}

// FindToken counts.
func (c counting) FindToken(ctx context.Context, hash [32]byte) (access.Token, error) {
	c.lookups.Add(1)
	if c.outage.away.Load() {
		return access.Token{}, errAway
	}
	return c.Store.FindToken(ctx, hash)
}

// Tokens counts.
func (c counting) Tokens(ctx context.Context) ([]access.Token, error) {
	c.lookups.Add(1)
	if c.outage.away.Load() {
		return nil, errAway
	}
	return c.Store.Tokens(ctx)
}

// newRig makes a rig. With auth callers need a token; see token.
func newRig(t *testing.T, auth bool, kinds *fairlead.Mux) *rig {
	t.Helper()
	store := sqlitetest.Open(t)
	if kinds == nil {
		kinds = fairlead.NewMux()
		kinds.Handle("noop", fairlead.HandlerOptions{}, fairlead.HandlerFunc(func(context.Context, *fairlead.Job) error { return nil }))
	}
	bulk.Register(kinds, store)
	log := slog.New(slog.DiscardHandler)
	r := &rig{T: t, store: store, jobs: fairlead.NewClient(store)}
	var err error
	if r.node, err = engine.New(store, kinds, engine.Options{Name: "here", Slots: 4, Poll: 20 * time.Millisecond, Logger: log}); err != nil {
		t.Fatal(err)
	}
	guard, err := httpcall.NewGuard(nil, true)
	if err != nil {
		t.Fatal(err)
	}
	r.api, err = server.New(r.node, counting{store, &r.lookups, &r.outage}, server.Options{
		Version: "test", Log: log, Auth: server.Auth{Required: auth}, Kinds: kinds, TryCall: httpcall.New(httpcall.Options{Guard: guard}).Try,
		Console: func(api http.Handler) (http.Handler, error) {
			counted := http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
				if request.URL.Path != fairleadv1connect.TokenServiceWhoAmIProcedure {
					r.calls.Add(1)
				}
				api.ServeHTTP(w, request)
			})
			r.console, err = New(counted, Options{Version: "test", Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
			return r.console, err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// run runs the node until the test ends.
func (r *rig) run() {
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

// token makes a token and returns its secret.
func (r *rig) token(name string, role access.Role, tenants ...string) string {
	r.Helper()
	secret := "secret-of-" + name
	if _, err := r.store.AddToken(r.Context(), access.Token{Name: name, Role: role, Tenants: tenants, Hash: server.HashSecret(secret)}); err != nil {
		r.Fatal(err)
	}
	return secret
}

// enqueue stores jobs.
func (r *rig) enqueue(jobs ...*fairlead.Job) {
	r.Helper()
	if err := r.jobs.Enqueue(r.Context(), jobs...); err != nil {
		r.Fatal(err)
	}
}

// ask sends a request with cookies, given as names and values.
func (r *rig) ask(method, path string, form url.Values, cookies ...string) *http.Response {
	r.Helper()
	request := httptest.NewRequestWithContext(r.Context(), method, path, strings.NewReader(form.Encode()))
	request.Host = "localhost"
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i+1 < len(cookies); i += 2 {
		request.AddCookie(&http.Cookie{Name: cookies[i], Value: cookies[i+1]})
	}
	answer := httptest.NewRecorder()
	r.api.ServeHTTP(answer, request)
	return answer.Result()
}

// page returns a page, which must be answered with the status.
func (r *rig) page(status int, path string, cookies ...string) string {
	r.Helper()
	answer := r.ask(http.MethodGet, path, nil, cookies...)
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != status {
		r.Fatalf("%s: %d, %v: %s", path, answer.StatusCode, err, body)
	}
	return string(body)
}

// shows fails unless a page contains all given strings.
func (r *rig) shows(page string, texts ...string) {
	r.Helper()
	for _, text := range texts {
		if !strings.Contains(page, text) {
			r.Error(errors.New("this is not shown: " + text))
		}
	}
	if r.Failed() {
		r.Log(page)
	}
}

// hides fails if a page contains any of the given strings.
func (r *rig) hides(page string, texts ...string) {
	r.Helper()
	for _, text := range texts {
		if strings.Contains(page, text) {
			r.Errorf("this is shown: %s", text)
		}
	}
}
