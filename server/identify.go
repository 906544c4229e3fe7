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
	"github.com/fairlead-io/fairlead/internal/rest"
)

// Auth is how the service finds out who its callers are.
type Auth struct {
	// Required refuses callers without a token. Otherwise they may do everything,
	// and only callers on this machine are answered.
	Required bool
	// Admin is the hash of a token that is kept in no database; nil: there is none.
	Admin *[32]byte
	// Verify knows who sent a token that an identity provider has signed; nil: there
	// is none. An error refuses the caller and is not shown.
	Verify func(ctx context.Context, token string) (Identity, error)
}

// tokenTrust is how long a token is believed without asking the database again.
const tokenTrust = 5 * time.Second

// tokenMemory is how many tokens are remembered.
const tokenMemory = 10_000

// identifier finds out who sends a request.
type identifier struct {
	Auth
	registrar fairlead.Registrar
	log       *slog.Logger
	failures  *failures

	mu     sync.Mutex
	tokens map[[32]byte]knownToken
}

type knownToken struct {
	identity Identity
	until    time.Time
}

func newIdentifier(auth Auth, registrar fairlead.Registrar, log *slog.Logger) *identifier {
	return &identifier{Auth: auth, registrar: registrar, log: log, failures: newFailures(), tokens: map[[32]byte]knownToken{}}
}

// handler adds to each request who sends it. What they may do is decided where
// it is known what they want.
func (i *identifier) handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := caller{from: hostOf(r.RemoteAddr), onceKey: r.Header.Get("Idempotency-Key")}
		c.identity, c.refusal = i.identify(r.Context(), r.Header.Get("Authorization"), c.from)
		var refusal *rest.Error
		if errors.As(c.refusal, &refusal) && refusal.Status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", "Bearer")
		}
		next.ServeHTTP(w, r.WithContext(withCaller(r.Context(), c)))
	})
}

func (i *identifier) identify(ctx context.Context, header, from string) (Identity, error) {
	if header == "" {
		if i.Required {
			return Identity{}, errNobody
		}
		return localIdentity, nil
	}
	scheme, secret, _ := strings.Cut(header, " ")
	if secret = strings.TrimSpace(secret); !strings.EqualFold(scheme, "Bearer") || secret == "" {
		return Identity{}, errNobody
	}
	hash := HashSecret(secret)
	if i.Admin != nil && subtle.ConstantTimeCompare(hash[:], i.Admin[:]) == 1 {
		return Identity{Name: "token-file", Role: fairlead.RoleAdmin}, nil
	}
	if identity, known := i.remembered(hash); known {
		return identity, nil
	}
	if !i.failures.allowed(from) {
		return Identity{}, errTooOften
	}
	identity, err := i.ask(ctx, hash, secret)
	switch {
	case errors.Is(err, fairlead.ErrNotFound):
		i.failures.note(from)
		return Identity{}, errStranger
	case err != nil:
		i.log.Error("a token could not be looked up", "error", err)
		return Identity{}, errNoDatabase
	}
	i.remember(hash, identity)
	return identity, nil
}

// ask asks who has the secret. It fails with ErrNotFound if that is nobody.
func (i *identifier) ask(ctx context.Context, hash [32]byte, secret string) (Identity, error) {
	// Only what an identity provider signs has dots in it.
	if i.Verify != nil && strings.Count(secret, ".") == 2 {
		identity, err := i.Verify(ctx, secret)
		if err != nil {
			return Identity{}, fairlead.ErrNotFound
		}
		return identity, nil
	}
	token, err := i.registrar.FindToken(ctx, hash)
	if err != nil {
		return Identity{}, err
	}
	if token.Expired {
		return Identity{}, fairlead.ErrNotFound
	}
	return Identity{Name: token.Name, Role: token.Role, Tenants: token.Tenants}, i.registrar.TouchToken(ctx, token.ID)
}

func (i *identifier) remembered(hash [32]byte) (Identity, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	known, there := i.tokens[hash]
	return known.identity, there && time.Now().Before(known.until)
}

func (i *identifier) remember(hash [32]byte, identity Identity) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.tokens) >= tokenMemory {
		clear(i.tokens)
	}
	i.tokens[hash] = knownToken{identity: identity, until: time.Now().Add(tokenTrust)}
}

// hostOf is an address without its port.
func hostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return address
}
