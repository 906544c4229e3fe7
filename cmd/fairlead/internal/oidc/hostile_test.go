package oidc_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode"

	"github.com/fairlead-io/fairlead/cmd/fairlead/internal/oidc"
)

// A provider that switches protocols or sends an endless response blocks nothing.
func TestAHostileProviderHoldsNothingUp(t *testing.T) {
	for what, answer := range map[string]string{
		"switches protocols":   "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
		"sends without an end": "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + strings.Repeat(" ", 2<<20),
	} {
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := w.(http.Hijacker).Hijack() //nolint:forcetypeassert // the server of a test can
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			if _, err := io.WriteString(conn, answer); err == nil {
				_, _ = io.Copy(io.Discard, conn)
			}
		}))
		if _, err := verifier(t.Context(), oidc.Options{Issuer: web.URL, Audience: "fairlead"}); err == nil {
			t.Errorf("a provider that %s is trusted", what)
		}
		web.Close()
	}
}

// An endless response with keys is not read completely.
func TestKeysWithoutAnEndAreNotReadToIt(t *testing.T) {
	const size = 200 << 20
	var sent atomic.Int64
	mux := http.NewServeMux()
	web := httptest.NewServer(mux)
	defer web.Close()
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"issuer": web.URL, "jwks_uri": web.URL + "/keys", "id_token_signing_alg_values_supported": []string{"RS256"}})
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		for part, err := make([]byte, 1<<20), error(nil); err == nil && sent.Load() < size; {
			var n int
			n, err = w.Write(part)
			sent.Add(int64(n))
		}
	})
	verify, err := verifier(t.Context(), oidc.Options{Issuer: web.URL, Audience: "fairlead", RoleClaim: "role"})
	if err != nil {
		t.Fatal(err)
	}
	token := newProvider(t).sign(map[string]any{"iss": web.URL, "aud": "fairlead", "sub": "jo", "exp": time.Now().Add(time.Hour).Unix(), "role": "viewer"})
	if _, err := verify(t.Context(), token); err == nil {
		t.Error("a token is accepted without keys")
	}
	if n := sent.Load(); n >= size {
		t.Errorf("%d MiB of keys were read", n>>20)
	}
}

// A malicious provider could redirect calls: with the client secret, or to services that
// only this side can reach.
func TestAProviderThatLeadsElsewhereIsNotFollowed(t *testing.T) {
	var hits atomic.Int64
	victim := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	defer victim.Close()
	elsewhere := http.RedirectHandler(victim.URL, http.StatusTemporaryRedirect)

	front := httptest.NewServer(elsewhere)
	defer front.Close()
	if _, err := oidc.New(t.Context(), oidc.Options{Issuer: front.URL, Audience: "fairlead"}); err == nil || !strings.Contains(err.Error(), "redirect") {
		t.Errorf("what the provider says is looked up elsewhere: %v", err)
	}

	mux := http.NewServeMux()
	web := httptest.NewServer(mux)
	defer web.Close()
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"issuer": web.URL, "jwks_uri": web.URL + "/keys", "token_endpoint": web.URL + "/token", "id_token_signing_alg_values_supported": []string{"RS256"}})
	})
	mux.Handle("/", elsewhere)
	provider, err := oidc.New(t.Context(), oidc.Options{Issuer: web.URL, Audience: "fairlead", RoleClaim: "role", ClientSecret: func() string { return "secret" }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := provider.Exchange(t.Context(), "http://localhost/", "code", "nonce", "verifier"); err == nil || !strings.Contains(err.Error(), "redirect") {
		t.Errorf("a code is exchanged elsewhere: %v", err)
	}
	token := newProvider(t).sign(map[string]any{"iss": web.URL, "aud": "fairlead", "sub": "jo", "exp": time.Now().Add(time.Hour).Unix(), "role": "viewer"})
	if _, err := provider.Verify(t.Context(), token); err == nil {
		t.Error("keys are accepted from elsewhere")
	}
	if n := hits.Load(); n != 0 {
		t.Errorf("another service was called %d times", n)
	}
}

// An attacker who can modify responses in transit could sign tokens, or read the client
// secret.
func TestAProviderWithTLSLeadsToNothingInTheClear(t *testing.T) {
	var endpoints map[string]any
	mux := http.NewServeMux()
	web := httptest.NewTLSServer(mux)
	defer web.Close()
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		said := map[string]any{"issuer": web.URL}
		for name, url := range endpoints {
			said[name] = url
		}
		_ = json.NewEncoder(w).Encode(said)
	})
	trusting := http.DefaultTransport
	http.DefaultTransport = web.Client().Transport
	t.Cleanup(func() { http.DefaultTransport = trusting })
	for _, name := range []string{"jwks_uri", "token_endpoint", "authorization_endpoint"} {
		for _, url := range []string{"http://provider.example/x", "ftp://provider.example/x", "javascript:alert(1)", "/x", "https:///x"} {
			endpoints = map[string]any{"jwks_uri": web.URL + "/keys", "token_endpoint": web.URL + "/token", "authorization_endpoint": web.URL + "/auth"}
			endpoints[name] = url
			if _, err := oidc.New(t.Context(), oidc.Options{Issuer: web.URL, Audience: "fairlead"}); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s %s: got %v", name, url, err)
			}
		}
	}
	endpoints = map[string]any{"jwks_uri": web.URL + "/keys"} // no endpoints for browsers
	if _, err := oidc.New(t.Context(), oidc.Options{Issuer: web.URL, Audience: "fairlead"}); err != nil {
		t.Error(err)
	}
}

// Responses of a provider reach logs and the operator's terminal.
func TestAnErrorHasLittleOfWhatAProviderSays(t *testing.T) {
	mux := http.NewServeMux()
	web := httptest.NewServer(mux)
	defer web.Close()
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"issuer": web.URL, "jwks_uri": web.URL + "/keys", "token_endpoint": web.URL + "/token"})
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		asked, _ := io.ReadAll(r.Body)
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = w.Write(append(asked, []byte("\x1b[2J"+strings.Repeat("x", 100_000))...))
	})
	provider, err := oidc.New(t.Context(), oidc.Options{Issuer: web.URL, Audience: "fairlead", ClientSecret: func() string { return "s3cret" }})
	if err != nil {
		t.Fatal(err)
	}
	_, exchanged := provider.Exchange(t.Context(), "http://localhost/", "c0de", "nonce", "verifier")
	_, asked := oidc.New(t.Context(), oidc.Options{Issuer: web.URL + "/other", Audience: "fairlead"})
	for what, err := range map[string]error{"the exchange of a code": exchanged, "what is said of the provider": asked} {
		if err == nil || len(err.Error()) > 1000 || strings.ContainsFunc(err.Error(), unicode.IsControl) || strings.Contains(err.Error(), "c0de") || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s fails with %.300q", what, err)
		}
	}
}
