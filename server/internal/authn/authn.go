// Package authn determines who the caller of a request is, and whether a credential is
// still valid during long calls.
package authn

import (
	"context"
	"crypto/subtle"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/server/internal/caller"
	"github.com/fairlead-io/fairlead/server/internal/rest"
)

// Options configures how callers are authenticated.
type Options struct {
	// Required rejects callers without a token. Without Required, callers have all
	// permissions, and the service only accepts requests from this machine.
	Required bool
	// Admin returns the hash of an admin token that is not stored in the database; nil = no
	// such token.
	Admin func() [32]byte
	// Verify returns the identity for a token signed by an identity provider; nil = no
	// identity provider. An error rejects the caller and is not included in the response.
	Verify func(ctx context.Context, token string) (caller.Identity, error)
	// Recheck is the interval at which the credentials of streams and waiting calls are
	// checked again; default 3s.
	Recheck time.Duration
}

const (
	// tokenTrust is how long a looked-up token is cached.
	tokenTrust = 5 * time.Second
	// tokenMemory is the maximum number of cached tokens.
	tokenMemory = 10_000
	// tokenPatience is the timeout for looking up one token.
	tokenPatience = 5 * time.Second
	// maxSecret limits the size of a token in bytes: larger tokens cost more to reject.
	maxSecret = 16 << 10
)

// Authenticator identifies the callers of requests.
type Authenticator struct {
	Options
	registrar access.Store
	log       *slog.Logger
	failures  *Failures
	register  *register

	mu     sync.Mutex
	tokens map[[32]byte]knownToken
}

// knownToken is a cached token.
type knownToken struct {
	credential
	until time.Time
}

// New returns an Authenticator of the tokens in a store.
func New(auth Options, registrar access.Store, log *slog.Logger) *Authenticator {
	if auth.Recheck <= 0 {
		auth.Recheck = recheckEvery
	}
	return &Authenticator{
		Options: auth, registrar: registrar, log: log, failures: NewFailures(), register: newRegister(registrar), tokens: map[[32]byte]knownToken{},
	}
}

// Handler adds the caller's identity to each request. Permissions are checked later, when
// the requested method is known.
func (i *Authenticator) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := caller.Caller{Since: time.Now(), From: HostOf(r.RemoteAddr), OnceKey: r.Header.Get("Idempotency-Key")}
		var believed credential
		authorization, err := AuthorizationOf(r.Header)
		if err == nil {
			believed, err = i.identify(r.Context(), authorization, c.From)
		}
		c.Identity, c.Refusal = believed.identity, err
		c.RecheckEvery = i.Recheck
		c.Recheck = func(ctx context.Context) error { return i.recheck(ctx, believed) }
		var refusal *rest.Error
		if errors.As(c.Refusal, &refusal) && refusal.Status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", "Bearer")
		}
		next.ServeHTTP(w, r.WithContext(caller.With(r.Context(), c)))
	})
}

// AuthorizationOf returns the Authorization header. It returns an error if there are
// several.
func AuthorizationOf(header http.Header) (string, error) {
	if len(header.Values("Authorization")) > 1 {
		return "", caller.ErrManyTokens
	}
	return header.Get("Authorization"), nil
}

func (i *Authenticator) identify(ctx context.Context, header, from string) (credential, error) {
	if header == "" {
		if i.Required {
			return credential{}, caller.ErrNoToken
		}
		return credential{identity: caller.Local}, nil
	}
	scheme, secret, _ := strings.Cut(header, " ")
	if secret = strings.TrimSpace(secret); !strings.EqualFold(scheme, "Bearer") || secret == "" {
		return credential{}, caller.ErrNoToken
	}
	if len(secret) > maxSecret {
		return credential{}, caller.ErrUnknownToken
	}
	hash := HashSecret(secret)
	if i.isAdmin(hash) {
		return credential{identity: caller.Identity{Name: "token-file", Role: access.RoleAdmin}, hash: hash, admin: true}, nil
	}
	if known, ok := i.remembered(hash); ok {
		return known, nil
	}
	ctx, cancel := context.WithTimeout(ctx, tokenPatience)
	defer cancel()
	return i.find(ctx, hash, secret, from)
}

// isAdmin reports whether a secret is the admin token that is not stored in the database.
func (i *Authenticator) isAdmin(hash [32]byte) bool {
	if i.Admin == nil {
		return false
	}
	admin := i.Admin()
	return subtle.ConstantTimeCompare(hash[:], admin[:]) == 1
}

// find looks up a token that is not cached. If an address has sent too many unknown tokens,
// its unknown tokens are rejected with a different error, and all its tokens are looked up
// together with those of others. A known token is found either way.
func (i *Authenticator) find(ctx context.Context, hash [32]byte, secret, from string) (credential, error) {
	own, all := i.failures.Spend(from)
	found, err := i.ask(ctx, hash, secret, all)
	switch {
	case err == nil:
		i.failures.giveBack(from, own, all)
		i.remember(hash, found)
		return found, nil
	case !errors.Is(err, fairlead.ErrNotFound):
		i.failures.giveBack(from, own, all)
		if ctx.Err() == nil || errors.Is(ctx.Err(), context.DeadlineExceeded) {
			i.log.Error("token lookup failed", "error", err)
		}
		return credential{}, caller.ErrNoDatabase
	case !own:
		return credential{}, caller.ErrTooManyUnknown
	}
	return credential{}, caller.ErrUnknownToken
}

// ask returns the owner of the secret, or ErrNotFound. If alone is set, it queries the
// database for this one token; otherwise all concurrent lookups share one query, so that
// guessing costs the database almost nothing.
func (i *Authenticator) ask(ctx context.Context, hash [32]byte, secret string, alone bool) (credential, error) {
	// Only signed tokens of identity providers contain dots.
	if i.Verify != nil && strings.Count(secret, ".") == 2 {
		identity, err := i.Verify(ctx, secret)
		if err != nil || identity.RestrictedToNothing() || identity.Expired(time.Now()) {
			return credential{}, fairlead.ErrNotFound
		}
		return credential{identity: identity}, nil
	}
	look := i.register.find
	if alone {
		look = i.registrar.FindToken
	}
	token, err := look(ctx, hash)
	if err != nil {
		return credential{}, err
	}
	identity := identityOf(token)
	if token.Expired || identity.RestrictedToNothing() {
		return credential{}, fairlead.ErrNotFound
	}
	// The last use is only displayed: a temporarily read-only database must not reject callers
	// that only read.
	if err := i.registrar.TouchToken(ctx, token.ID); errors.Is(err, fairlead.ErrUnavailable) {
		i.log.Warn("cannot record the use of a token", "token", token.Name, "error", err)
	} else if err != nil {
		return credential{}, err
	}
	return credential{identity: identity, hash: hash, kept: true}, nil
}

func (i *Authenticator) remembered(hash [32]byte) (credential, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	known, there := i.tokens[hash]
	now := time.Now()
	return known.credential, there && now.Before(known.until) && !known.identity.Expired(now)
}

func (i *Authenticator) remember(hash [32]byte, found credential) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.tokens) >= tokenMemory {
		clear(i.tokens)
	}
	i.tokens[hash] = knownToken{credential: found, until: time.Now().Add(tokenTrust)}
}

// HostOf returns an address without its port.
func HostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return address
}
