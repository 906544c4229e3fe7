package oidc

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/url"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// Name returns the provider's display name, which is its host.
func (p *Provider) Name() string {
	if issuer, err := url.Parse(p.options.Issuer); err == nil && issuer.Host != "" {
		return issuer.Host
	}
	return p.options.Issuer
}

// AuthURL returns the URL to which a browser is sent to sign in. The provider then sends the
// browser to redirect, with the state and a code. Only a caller that knows verifier can
// exchange this code for a token that contains nonce.
func (p *Provider) AuthURL(redirect, state, nonce, verifier string) string {
	client := p.browser
	client.RedirectURL = redirect
	return client.AuthCodeURL(state, oidc.Nonce(nonce), oauth2.S256ChallengeOption(verifier))
}

// Exchange exchanges a code for a token and returns the token.
func (p *Provider) Exchange(ctx context.Context, redirect, code, nonce, verifier string) (string, error) {
	client := p.browser
	client.RedirectURL = redirect
	if p.options.ClientSecret != nil {
		client.ClientSecret = p.options.ClientSecret()
	}
	asking, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	answer, err := client.Exchange(asking, code, oauth2.VerifierOption(verifier))
	if err != nil {
		return "", fmt.Errorf("exchange the code: %w", brief(err))
	}
	raw, ok := answer.Extra("id_token").(string)
	if !ok {
		return "", errors.New("the provider sent no id_token")
	}
	token, err := p.verifier.Verify(asking, raw)
	if err != nil {
		return "", fmt.Errorf("verify the id_token: %w", brief(err))
	}
	if subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(nonce)) != 1 {
		return "", errors.New("the id_token was issued for a different sign-in")
	}
	return raw, nil
}
