// Package oidc authenticates callers by tokens of an identity provider.
package oidc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/internal/outbound"
	"github.com/fairlead-io/fairlead/server"
)

// Options specifies the identity provider to trust and the claims to use.
type Options struct {
	Issuer       string        // URL of the provider
	Audience     string        // required audience of tokens; the client ID where browsers sign in
	ClientSecret func() string // for browsers that sign in; nil for a public client
	RoleClaim    string        // claim with the caller's role
	TenantsClaim string        // claim with the tenants to which a caller is restricted: a string or a list of strings; without the claim, the caller is not restricted
}

// patience is the maximum response time of the provider.
const patience = 10 * time.Second

// maxAnswer is the maximum size of a response body in bytes, and also of its headers.
const maxAnswer = 1 << 20

// maxName is the maximum length of a caller's name in bytes.
const maxName = 190

// Provider is a trusted identity provider.
type Provider struct {
	options  Options
	ctx      context.Context // contains the HTTP client for the provider
	verifier *oidc.IDTokenVerifier
	browser  oauth2.Config
}

// New fetches a provider's configuration and keys. When the provider changes its keys, they
// are fetched again.
func New(ctx context.Context, o Options) (*Provider, error) {
	if o.Audience == "" {
		return nil, errors.New("the audience is not set: tokens issued for other services would be accepted")
	}
	web := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // always this type
	web.MaxResponseHeaderBytes = maxAnswer
	bounded := short{outbound.Transport(web)}
	ctx = oidc.ClientContext(context.WithoutCancel(ctx), &http.Client{Timeout: patience, Transport: bounded, CheckRedirect: stay})
	provider, err := oidc.NewProvider(ctx, o.Issuer)
	if err == nil {
		err = checkEndpoints(o.Issuer, provider)
	}
	if err != nil {
		return nil, fmt.Errorf("fetch the keys of %s: %w", o.Issuer, brief(err))
	}
	keys := oidc.ClientContext(ctx, &http.Client{Timeout: patience + keysPause, Transport: &pacedKeys{base: bounded}, CheckRedirect: stay})
	return &Provider{
		options: o, ctx: ctx, verifier: provider.VerifierContext(keys, &oidc.Config{ClientID: o.Audience}),
		browser: oauth2.Config{ClientID: o.Audience, Endpoint: provider.Endpoint(), Scopes: []string{oidc.ScopeOpenID, "profile"}},
	}, nil
}

// Verify verifies that the provider has signed a token, and returns the identity that the
// token contains.
func (p *Provider) Verify(ctx context.Context, raw string) (server.Identity, error) {
	token, err := p.verifier.Verify(ctx, raw)
	if err != nil {
		return server.Identity{}, err
	}
	return p.options.identity(token)
}

func (o Options) identity(token *oidc.IDToken) (server.Identity, error) {
	var claims map[string]json.RawMessage
	if err := token.Claims(&claims); err != nil {
		return server.Identity{}, err
	}
	var role string
	if err := json.Unmarshal(claims[o.RoleClaim], &role); err != nil {
		return server.Identity{}, fmt.Errorf("the value of the claim %q is not a role", o.RoleClaim)
	}
	tenants, err := o.tenants(claims)
	if err != nil {
		return server.Identity{}, err
	}
	if token.Subject == "" {
		return server.Identity{}, errors.New("the token has no subject") // all such callers would share one name
	}
	name := "oidc:" + token.Subject
	if len(name) > maxName {
		return server.Identity{}, errors.New("the subject is too long")
	}
	probe := access.Token{Name: name, Role: access.Role(role), Tenants: tenants}
	if err := access.Normalize(&probe); err != nil {
		return server.Identity{}, err
	}
	return server.Identity{Name: name, Role: probe.Role, Tenants: tenants, Until: token.Expiry}, nil
}

// tenants returns the tenants to which the claims restrict a caller, or nil if the caller
// is not restricted. A token is rejected if the claim is present but names no tenant.
func (o Options) tenants(claims map[string]json.RawMessage) ([]string, error) {
	raw, bound := claims[o.TenantsClaim]
	if !bound {
		return nil, nil
	}
	tenants, err := textsIn(raw)
	if err != nil || len(tenants) == 0 || slices.Contains(tenants, "") {
		return nil, fmt.Errorf("the value of the claim %q is not a list of tenants", o.TenantsClaim)
	}
	return tenants, nil
}

// textsIn decodes a string or a list of strings.
func textsIn(raw json.RawMessage) ([]string, error) {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return []string{one}, nil
	}
	var many []string
	err := json.Unmarshal(raw, &many)
	return many, err
}
