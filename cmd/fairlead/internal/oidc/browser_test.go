package oidc_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/cmd/fairlead/internal/oidc"
	"github.com/fairlead-io/fairlead/console"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/internal/sqlitetest"
	"github.com/fairlead-io/fairlead/server"
)

// tokenEndpoint exchanges codes for tokens. It checks each code against the
// parameters with which the browser was sent.
type tokenEndpoint struct {
	*provider
	claims map[string]any
	sent   url.Values
}

// ServeHTTP responds with a token if the code is known and its verifier matches.
func (d *tokenEndpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	challenge := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	if r.FormValue("code") != "good" || text(challenge[:]) != d.sent.Get("code_challenge") || r.FormValue("redirect_uri") != d.sent.Get("redirect_uri") {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"access_token": "x", "token_type": "Bearer", "id_token": d.sign(d.claims)})
}

// consoleOf starts a console whose viewers sign in at a provider.
func consoleOf(t *testing.T, p *provider) (string, *http.Client) {
	t.Helper()
	trusted, err := oidc.New(t.Context(), oidc.Options{Issuer: p.url, Audience: "fairlead", RoleClaim: "role", TenantsClaim: "tenants"})
	if err != nil {
		t.Fatal(err)
	}
	store := sqlitetest.Open(t)
	log := slog.New(slog.DiscardHandler)
	kinds := fairlead.NewMux()
	kinds.Handle("noop", fairlead.HandlerOptions{}, fairlead.HandlerFunc(func(context.Context, *fairlead.Job) error { return nil }))
	node, err := engine.New(store, kinds, engine.Options{Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	service, err := server.New(node, store, server.Options{
		Log: log, Auth: server.Auth{Required: true, Verify: trusted.Verify},
		Console: func(api http.Handler) (http.Handler, error) {
			return console.New(api, console.Options{Provider: trusted, Log: log})
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(service)
	t.Cleanup(func() {
		web.Close()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return web.URL, &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func TestABrowserSignsInAtTheProvider(t *testing.T) {
	p := newProvider(t)
	d := &tokenEndpoint{provider: p}
	p.mux.Handle("/token", d)
	at, browser := consoleOf(t, p)
	get := func(path string) *http.Response {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := browser.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = answer.Body.Close() })
		return answer
	}
	begin := func() {
		t.Helper()
		to, err := url.Parse(get(at + "/login/provider?next=/jobs").Header.Get("Location"))
		if err != nil || !strings.HasPrefix(to.String(), p.url+"/auth?") {
			t.Fatalf("it leads to %v: %v", to, err)
		}
		d.sent = to.Query()
		d.claims = map[string]any{"iss": p.url, "aud": "fairlead", "sub": "jo", "exp": time.Now().Add(time.Hour).Unix(), "role": "viewer", "nonce": d.sent.Get("nonce")}
	}
	back := func(code, state string) *http.Response {
		t.Helper()
		return get(at + "/login/callback?" + url.Values{"code": {code}, "state": {state}}.Encode())
	}
	refused := func(what string, answer *http.Response) {
		t.Helper()
		if to := get(at + "/jobs").Header.Get("Location"); answer.StatusCode < 400 || !strings.HasPrefix(to, "/login") {
			t.Errorf("%s: %d, and pages lead to %q", what, answer.StatusCode, to)
		}
	}
	refused("never begun", back("good", "x"))
	begin()
	refused("another state", back("good", "x"))
	refused("the same sign-in again", back("good", d.sent.Get("state")))
	begin()
	refused("an unknown code", back("bad", d.sent.Get("state")))
	begin()
	d.claims["nonce"] = "of another"
	refused("a token of another sign-in", back("good", d.sent.Get("state")))
	begin()
	d.claims["role"] = "king"
	refused("a role that does not exist", back("good", d.sent.Get("state")))
	begin()
	first := d.sent.Get("state")
	begin()
	refused("an earlier sign-in of the same browser", back("good", first))

	begin()
	if answer := back("good", d.sent.Get("state")); answer.StatusCode != http.StatusSeeOther || answer.Header.Get("Location") != "/jobs" {
		t.Fatalf("%d leads to %q", answer.StatusCode, answer.Header.Get("Location"))
	}
	if answer := get(at + "/jobs"); answer.StatusCode != http.StatusOK {
		t.Errorf("a page is answered with %d", answer.StatusCode)
	}
}
