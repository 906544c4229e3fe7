package oidc

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// stay rejects redirects, which could send the client secret to other servers or reach
// services only this side can access.
func stay(*http.Request, []*http.Request) error {
	return errors.New("the provider responded with a redirect; redirects are not followed")
}

// checkEndpoints returns an error if a provider names an endpoint that cannot be called, or
// one without TLS although the provider itself uses TLS.
func checkEndpoints(issuer string, provider *oidc.Provider) error {
	var said struct {
		Keys string `json:"jwks_uri"`
	}
	if err := provider.Claims(&said); err != nil {
		return err
	}
	endpoint := provider.Endpoint()
	for _, named := range []struct{ field, url string }{
		{"jwks_uri", said.Keys}, {"token_endpoint", endpoint.TokenURL}, {"authorization_endpoint", endpoint.AuthURL},
	} {
		if named.url == "" && named.field != "jwks_uri" {
			continue // no browser signs in with this provider
		}
		parsed, err := url.Parse(named.url)
		switch {
		case err != nil || parsed.Host == "" || parsed.Scheme != "https" && parsed.Scheme != "http":
			return fmt.Errorf("%s is not an http or https URL", named.field)
		case parsed.Scheme == "http" && strings.HasPrefix(strings.ToLower(issuer), "https:"):
			return fmt.Errorf("%s does not use TLS, but the issuer does", named.field)
		}
	}
	return nil
}

// mostOfError is the maximum number of characters of an error, which may contain a response
// of the provider.
const mostOfError = 300

// brief returns an error that is safe to log: it does not repeat what was sent to the
// provider, and has no control characters.
func brief(err error) error {
	text := err.Error()
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) {
		text = strings.TrimSpace("the provider answered " + refused.Response.Status + " " + refused.ErrorCode)
	}
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	return fmt.Errorf("%.*s", mostOfError, text)
}
