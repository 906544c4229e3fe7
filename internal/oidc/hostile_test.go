package oidc_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

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
		if _, err := oidc.Verifier(t.Context(), oidc.Options{Issuer: web.URL, Audience: "fairlead"}); err == nil {
			t.Errorf("a provider that %s is believed", what)
		}
		web.Close()
	}
}
