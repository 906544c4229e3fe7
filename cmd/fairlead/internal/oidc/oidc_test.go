package oidc_test

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/cmd/fairlead/internal/oidc"
	"github.com/fairlead-io/fairlead/server"
)

// provider is an identity provider with one key.
type provider struct {
	*testing.T
	url string
	mux *http.ServeMux
	key *rsa.PrivateKey

	asked atomic.Int64 // number of requests for its keys
}

func newProvider(t *testing.T) *provider {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	p := &provider{T: t, key: key, mux: mux}
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	p.url = web.URL
	answer := func(path string, value any) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			if path == "/keys" {
				p.asked.Add(1)
			}
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(value)
		})
	}
	answer("/.well-known/openid-configuration", map[string]any{
		"issuer": p.url, "jwks_uri": p.url + "/keys", "authorization_endpoint": p.url + "/auth", "token_endpoint": p.url + "/token",
		"id_token_signing_alg_values_supported": []string{"RS256"},
	})
	exponent := big.NewInt(int64(key.E)).Bytes()
	answer("/keys", map[string]any{"keys": []any{map[string]any{
		"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "1", "n": text(key.N.Bytes()), "e": text(exponent),
	}}})
	return p
}

func text(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

// sign returns a signed token.
func (p *provider) sign(claims map[string]any) string {
	p.Helper()
	header, err := json.Marshal(map[string]string{"alg": "RS256", "kid": "1"})
	if err != nil {
		p.Fatal(err)
	}
	body, err := json.Marshal(claims)
	if err != nil {
		p.Fatal(err)
	}
	signed := text(header) + "." + text(body)
	hash := sha256.Sum256([]byte(signed))
	signature, err := rsa.SignPKCS1v15(rand.Reader, p.key, crypto.SHA256, hash[:])
	if err != nil {
		p.Fatal(err)
	}
	return signed + "." + text(signature)
}

// verifier returns the function that verifies the tokens of a provider.
func verifier(ctx context.Context, o oidc.Options) (func(context.Context, string) (server.Identity, error), error) {
	p, err := oidc.New(ctx, o)
	if err != nil {
		return nil, err
	}
	return p.Verify, nil
}

func TestCallersAreWhoTheProviderSays(t *testing.T) {
	p := newProvider(t)
	verify, err := verifier(t.Context(), oidc.Options{Issuer: p.url, Audience: "fairlead", RoleClaim: "role", TenantsClaim: "tenants"})
	if err != nil {
		t.Fatal(err)
	}
	soon, past := time.Now().Add(time.Hour).Unix(), time.Now().Add(-time.Hour).Unix()
	claims := func(change map[string]any) map[string]any {
		all := map[string]any{"iss": p.url, "aud": "fairlead", "sub": "jo", "exp": soon, "role": "submitter", "tenants": []string{"acme"}}
		for name, value := range change {
			all[name] = value
		}
		return all
	}
	who, err := verify(t.Context(), p.sign(claims(nil)))
	if err != nil || who.Name != "oidc:jo" || who.Role != access.RoleSubmitter || !slices.Equal(who.Tenants, []string{"acme"}) {
		t.Errorf("the caller is %+v (%v)", who, err)
	}
	who, err = verify(t.Context(), p.sign(claims(map[string]any{"tenants": "zeta"})))
	if err != nil || !slices.Equal(who.Tenants, []string{"zeta"}) {
		t.Errorf("the caller is %+v (%v)", who, err)
	}
	if !who.Until.Equal(time.Unix(soon, 0)) {
		t.Errorf("it is trusted until %v", who.Until)
	}
	unbound := claims(nil)
	delete(unbound, "tenants")
	if who, err = verify(t.Context(), p.sign(unbound)); err != nil || who.Tenants != nil {
		t.Errorf("without the claim the caller is %+v (%v)", who, err)
	}
	for what, change := range map[string]map[string]any{
		"made for others":              {"aud": "other"},
		"made by others":               {"iss": "https://example.org"},
		"expired":                      {"exp": past},
		"without a role":               {"role": nil},
		"with an unknown role":         {"role": "god"},
		"with tenants that are none":   {"tenants": 7},
		"bound to nothing":             {"tenants": []string{}},
		"bound to null":                {"tenants": nil},
		"bound to an empty name":       {"tenants": ""},
		"bound to empty names":         {"tenants": []string{"", ""}},
		"bound to some empty name":     {"tenants": []string{"acme", ""}},
		"bound to a list of null":      {"tenants": []any{nil}},
		"bound to an object":           {"tenants": map[string]any{}},
		"bound to a list of lists":     {"tenants": []any{[]string{"acme"}}},
		"bound to false":               {"tenants": false},
		"of an admin without tenants":  {"role": "admin", "tenants": []string{}},
		"with a list of roles":         {"role": []string{"admin"}},
		"with an empty role":           {"role": ""},
		"of nobody":                    {"sub": ""},
		"of null":                      {"sub": nil},
		"of an admin bound to tenants": {"role": "admin"},
	} {
		if who, err := verify(t.Context(), p.sign(claims(change))); err == nil {
			t.Errorf("a token %s is accepted as %+v", what, who)
		}
	}
	if _, err := verify(t.Context(), p.sign(claims(nil))+"x"); err == nil {
		t.Error("a token with a wrong signature is accepted")
	}
}

// Forged tokens make the verifier look for new keys, which must not overload the provider.
func TestForgedTokensDoNotLoadTheProvider(t *testing.T) {
	p := newProvider(t)
	verify, err := verifier(t.Context(), oidc.Options{Issuer: p.url, Audience: "fairlead", RoleClaim: "role", TenantsClaim: "tenants"})
	if err != nil {
		t.Fatal(err)
	}
	valid := p.sign(map[string]any{"iss": p.url, "aud": "fairlead", "sub": "jo", "exp": time.Now().Add(time.Hour).Unix(), "role": "viewer"})
	if _, err := verify(t.Context(), valid); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			forged := valid[:len(valid)-8] + text([]byte{byte(i), 1, 2, 3, 4, 5})
			if _, err := verify(t.Context(), forged); err == nil {
				t.Error("a forged token is accepted")
			}
		})
	}
	all.Wait()
	for range 20 {
		if _, err := verify(t.Context(), valid); err != nil {
			t.Errorf("a valid token is refused: %v", err)
		}
	}
	if n := p.asked.Load(); n > 5 {
		t.Errorf("the provider was asked for its keys %d times", n)
	}
}

func TestAnAudienceIsRequired(t *testing.T) {
	if _, err := verifier(t.Context(), oidc.Options{Issuer: "https://example.org"}); err == nil {
		t.Error("tokens for any audience would be accepted")
	}
}
