package server

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
	"github.com/fairlead-io/fairlead/internal/rest"
)

// Auth configures how callers are authenticated.
type Auth struct {
	// Required rejects callers without a token. Without Required, callers have all
	// permissions, and the service only accepts requests from this machine.
	Required bool
	// Admin returns the hash of an admin token that is not stored in the database; nil = no
	// such token.
	Admin func() [32]byte
	// Verify returns the identity for a token signed by an identity provider; nil = no
	// identity provider. An error rejects the caller and is not included in the response.
	Verify func(ctx context.Context, token string) (Identity, error)
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

// identifier identifies the callers of requests.
type identifier struct {
	Auth
	registrar access.Store
	log       *slog.Logger
	failures  *failures
	register  *register

	mu     sync.Mutex
	tokens map[[32]byte]knownToken
}

// knownToken is a cached token.
type knownToken struct {
	credential
	until time.Time
}

func newIdentifier(auth Auth, registrar access.Store, log *slog.Logger) *identifier {
	if auth.Recheck <= 0 {
		auth.Recheck = recheckEvery
	}
	return &identifier{
		Auth: auth, registrar: registrar, log: log, failures: newFailures(), register: newRegister(registrar), tokens: map[[32]byte]knownToken{},
	}
}

// handler adds the caller's identity to each request. Permissions are checked later, when
// the requested method is known.
func (i *identifier) handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := caller{since: time.Now(), from: hostOf(r.RemoteAddr), onceKey: r.Header.Get("Idempotency-Key")}
		var believed credential
		authorization, err := authorizationOf(r.Header)
		if err == nil {
			believed, err = i.identify(r.Context(), authorization, c.from)
		}
		c.identity, c.refusal = believed.identity, err
		c.recheckEvery = i.Recheck
		c.recheck = func(ctx context.Context) error { return i.recheck(ctx, believed) }
		var refusal *rest.Error
		if errors.As(c.refusal, &refusal) && refusal.Status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", "Bearer")
		}
		next.ServeHTTP(w, r.WithContext(withCaller(r.Context(), c)))
	})
}

// authorizationOf returns the Authorization header. It returns an error if there are
// several.
func authorizationOf(header http.Header) (string, error) {
	if len(header.Values("Authorization")) > 1 {
		return "", errManyTokens
	}
	return header.Get("Authorization"), nil
}

func (i *identifier) identify(ctx context.Context, header, from string) (credential, error) {
	if header == "" {
		if i.Required {
			return credential{}, errNobody
		}
		return credential{identity: localIdentity}, nil
	}
	scheme, secret, _ := strings.Cut(header, " ")
	if secret = strings.TrimSpace(secret); !strings.EqualFold(scheme, "Bearer") || secret == "" {
		return credential{}, errNobody
	}
	if len(secret) > maxSecret {
		return credential{}, errStranger
	}
	hash := HashSecret(secret)
	if i.isAdmin(hash) {
		return credential{identity: Identity{Name: "token-file", Role: access.RoleAdmin}, hash: hash, admin: true}, nil
	}
	if known, ok := i.remembered(hash); ok {
		return known, nil
	}
	ctx, cancel := context.WithTimeout(ctx, tokenPatience)
	defer cancel()
	return i.find(ctx, hash, secret, from)
}

// isAdmin reports whether a secret is the admin token that is not stored in the database.
func (i *identifier) isAdmin(hash [32]byte) bool {
	if i.Admin == nil {
		return false
	}
	admin := i.Admin()
	return subtle.ConstantTimeCompare(hash[:], admin[:]) == 1
}

// find looks up a token that is not cached. If an address has sent too many unknown tokens,
// its unknown tokens are rejected with a different error, and all its tokens are looked up
// together with those of others. A known token is found either way.
func (i *identifier) find(ctx context.Context, hash [32]byte, secret, from string) (credential, error) {
	own, all := i.failures.spend(from)
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
		return credential{}, errNoDatabase
	case !own:
		return credential{}, errTooOften
	}
	return credential{}, errStranger
}

// ask returns the owner of the secret, or ErrNotFound. If alone is set, it queries the
// database for this one token; otherwise all concurrent lookups share one query, so that
// guessing costs the database almost nothing.
func (i *identifier) ask(ctx context.Context, hash [32]byte, secret string, alone bool) (credential, error) {
	// Only signed tokens of identity providers contain dots.
	if i.Verify != nil && strings.Count(secret, ".") == 2 {
		identity, err := i.Verify(ctx, secret)
		if err != nil || identity.boundToNothing() || identity.over(time.Now()) {
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
	if token.Expired || identity.boundToNothing() {
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

func (i *identifier) remembered(hash [32]byte) (credential, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	known, there := i.tokens[hash]
	now := time.Now()
	return known.credential, there && now.Before(known.until) && !known.identity.over(now)
}

func (i *identifier) remember(hash [32]byte, found credential) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.tokens) >= tokenMemory {
		clear(i.tokens)
	}
	i.tokens[hash] = knownToken{credential: found, until: time.Now().Add(tokenTrust)}
}

// hostOf returns an address without its port.
func hostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return address
}
