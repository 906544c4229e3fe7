package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/url"
	"os"
	"strings"
	"unicode"

	"github.com/spf13/pflag"

	"github.com/fairlead-io/fairlead/cmd/fairlead/internal/oidc"
	"github.com/fairlead-io/fairlead/server"
)

// authOptions configures the authentication of callers and TLS.
type authOptions struct {
	tokenFile       string
	tlsCert, tlsKey string
	oidc            oidc.Options
	clientSecret    string         // name of a file
	provider        *oidc.Provider // set by find; nil = no identity provider
}

func (o *authOptions) flags(f *pflag.FlagSet) {
	f.StringVar(&o.tokenFile, "token-file", "", "file with an API token that has the admin role; enables authentication (default: none)")
	f.StringVar(&o.tlsCert, "tls-cert", "", "file with the TLS certificate; set together with --tls-key to enable TLS (default: none)")
	f.StringVar(&o.tlsKey, "tls-key", "", "file with the private key for --tls-cert (default: none)")
	f.StringVar(&o.oidc.Issuer, "oidc-issuer", "", "URL of an OpenID Connect provider to accept tokens from; enables authentication (default: none)")
	f.StringVar(&o.oidc.Audience, "oidc-audience", "", "audience that the provider's tokens must contain; required with --oidc-issuer")
	f.StringVar(&o.clientSecret, "oidc-client-secret-file", "", "file with the client secret that the console uses to sign users in (default: none, for a public client); the client ID is the value of --oidc-audience")
	f.StringVar(&o.oidc.RoleClaim, "oidc-role-claim", "fairlead_role", "token claim that contains the role")
	f.StringVar(&o.oidc.TenantsClaim, "oidc-tenants-claim", "fairlead_tenants", "token claim that contains the tenants the caller may access")
}

// tls returns the TLS configuration, or nil to serve without TLS.
func (o *authOptions) tls(log *slog.Logger) (*tls.Config, error) {
	if o.tlsCert == "" && o.tlsKey == "" {
		return nil, nil
	}
	if o.tlsCert == "" || o.tlsKey == "" {
		return nil, usagef("--tls-cert and --tls-key must be set together")
	}
	pair, err := newReread("certificate of --tls-cert", log, func() (*tls.Certificate, error) {
		pair, err := tls.LoadX509KeyPair(o.tlsCert, o.tlsKey)
		return &pair, err
	}, o.tlsCert, o.tlsKey)
	if err != nil {
		return nil, usagef("--tls-cert and --tls-key: %w", err)
	}
	warnIfOpen(log, "--tls-key", o.tlsKey)
	present := func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return pair.get(), nil }
	return &tls.Config{GetCertificate: present, MinVersion: tls.VersionTLS12}, nil
}

// find returns the authentication of callers. It is enabled if there is any token: in a
// file, in the database or from an identity provider.
func (o *authOptions) find(ctx context.Context, store server.Store, log *slog.Logger) (server.Auth, error) {
	var auth server.Auth
	if o.clientSecret != "" && o.oidc.Issuer == "" {
		return auth, usagef("--oidc-client-secret-file requires --oidc-issuer")
	}
	if o.oidc.Audience != "" && o.oidc.Issuer == "" {
		return auth, usagef("--oidc-audience requires --oidc-issuer")
	}
	if o.tokenFile != "" {
		hash, err := newReread("token of --token-file", log, func() ([32]byte, error) { return readToken(o.tokenFile) }, o.tokenFile)
		if err != nil {
			return auth, err
		}
		warnIfOpen(log, "--token-file", o.tokenFile)
		auth.Admin, auth.Required = hash.get, true
	}
	if o.oidc.Issuer != "" {
		if o.clientSecret != "" {
			secret, err := newReread("secret of --oidc-client-secret-file", log, o.readClientSecret, o.clientSecret)
			if err != nil {
				return auth, err
			}
			warnIfOpen(log, "--oidc-client-secret-file", o.clientSecret)
			o.oidc.ClientSecret = secret.get
		}
		warnIfPlain(log, o.oidc.Issuer)
		provider, err := oidc.New(ctx, o.oidc)
		if err != nil {
			return auth, usagef("--oidc-issuer: %w", err)
		}
		o.provider, auth.Verify, auth.Required = provider, provider.Verify, true
	}
	tokens, err := store.Tokens(ctx)
	if err != nil {
		return auth, err
	}
	auth.Required = auth.Required || len(tokens) > 0
	return auth, nil
}

// warnIfPlain logs a warning about an identity provider on another machine without TLS.
func warnIfPlain(log *slog.Logger, issuer string) {
	if parsed, err := url.Parse(issuer); err == nil && strings.EqualFold(parsed.Scheme, "http") && !isLoopback(parsed.Hostname()) {
		log.Warn("the identity provider is called without TLS: anyone between it and this server can forge tokens; use an https URL for --oidc-issuer", "host", parsed.Host)
	}
}

// readClientSecret reads the client secret for the identity provider.
func (o *authOptions) readClientSecret() (string, error) {
	raw, err := os.ReadFile(o.clientSecret)
	if err != nil {
		return "", usagef("--oidc-client-secret-file: %w", err)
	}
	secret := string(bytes.TrimSpace(raw))
	if secret == "" {
		return "", usagef("--oidc-client-secret-file %s: the file is empty", o.clientSecret)
	}
	return secret, nil
}

// leastToken is the minimum length of a token in a file: shorter tokens can be guessed.
const leastToken = 32

func readToken(file string) (hash [32]byte, err error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return hash, usagef("--token-file: %w", err)
	}
	secret := bytes.TrimSpace(raw)
	if len(secret) < leastToken {
		return hash, usagef("--token-file %s: the token has %d characters but must have at least %d; generate one with: openssl rand -hex 32", file, len(secret), leastToken)
	}
	return server.HashSecret(string(secret)), nil
}

// check rejects a configuration that would serve other machines without authentication.
func (o *authOptions) check(addr string, local bool, auth server.Auth, db string, log *slog.Logger) error {
	switch {
	case !local && !auth.Required:
		return usagef("--addr %q is reachable from other machines, but authentication is off: %s, or listen on 127.0.0.1", addr, wayToFirstToken(db))
	case !local && o.tlsCert == "":
		log.Warn("serving without TLS: tokens can be intercepted unless a proxy encrypts the traffic", "addr", addr)
	case !auth.Required:
		log.Info("authentication is off: every user of this machine has full access; to enable it, restart the server after you " + wayToFirstToken(db))
	}
	return nil
}

// wayToFirstToken returns instructions for creating the first token of a database, with a
// command that can be copied. The command leaves out confidential parts of the database's
// URL.
func wayToFirstToken(db string) string {
	if isInMemory(db) {
		return "set --token-file"
	}
	if location, ok := os.LookupEnv("FAIRLEAD_DB"); ok && location == db {
		return "create a token with \"fairlead token create --role admin --name me\" or set --token-file"
	}
	location, whole := withoutSecrets(db)
	remedy := "create a token with \"fairlead token create --db " + quotedForShell(location) + " --role admin --name me\""
	if !whole {
		remedy += " (add the password of --db, which is not shown here)"
	}
	return remedy + " or set --token-file"
}

// withoutSecrets returns a URL for the same database and user without confidential parts,
// and whether it is complete.
func withoutSecrets(db string) (location string, whole bool) {
	if strings.HasPrefix(db, "sqlite://") {
		return db, true
	}
	parsed, err := url.Parse(db)
	if err != nil || parsed.Host == "" {
		return "URL", false
	}
	_, hasPassword := parsed.User.Password()
	bare := url.URL{Scheme: parsed.Scheme, Host: parsed.Host, Path: parsed.Path}
	if name := parsed.User.Username(); name != "" {
		bare.User = url.User(name)
	}
	return bare.String(), !hasPassword && parsed.RawQuery == ""
}

// quotedForShell returns a string quoted as a single word for a shell.
func quotedForShell(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool {
		return !strings.ContainsRune("./:@_-%+=,", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// onLoopback reports whether an address is reachable only from this machine.
func onLoopback(addr string) (bool, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false, usagef("--addr %q: %w", addr, err)
	}
	return isLoopback(host), nil
}
