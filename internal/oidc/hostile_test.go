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

	"github.com/fairlead-io/fairlead/internal/oidc"
)

// A provider that switches protocols, or that sends without an end, holds nothing up.
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
			t.Errorf("a provider that %s is believed", what)
		}
		web.Close()
	}
}

// Keys that have no end are not read to it.
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
		t.Error("a token is believed without keys")
	}
	if n := sent.Load(); n >= size {
		t.Errorf("%d MiB of keys were read", n>>20)
	}
}
