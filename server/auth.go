package server

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/server/internal/authn"
	"github.com/fairlead-io/fairlead/server/internal/caller"
)

// An Identity describes the authenticated caller of a request.
type Identity struct {
	Name    string // name of the token, or subject from the identity provider
	Role    access.Role
	Tenants []string  // tenants that the caller is restricted to; nil = unrestricted
	Kinds   []string  // worker tokens only: kinds of jobs that the worker may run; nil = all
	Queues  []string  // worker tokens only: queues that the worker may serve; nil = all
	Until   time.Time // expiry; zero = valid as long as the token exists
}

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

// options returns the configuration in the form that the authenticator takes.
func (a Auth) options() authn.Options {
	o := authn.Options{Required: a.Required, Admin: a.Admin, Recheck: a.Recheck}
	if a.Verify != nil {
		o.Verify = func(ctx context.Context, token string) (caller.Identity, error) {
			identity, err := a.Verify(ctx, token)
			return caller.Identity(identity), err
		}
	}
	return o
}

// NewSecret generates a token's secret, and the hash that is stored in place of the secret.
// The caller shows the secret once and must not store it.
func NewSecret() (secret string, hash [32]byte, err error) { return authn.NewSecret() }

// HashSecret returns the hash of a secret. Tokens are stored with this hash and looked up by
// it.
func HashSecret(secret string) [32]byte { return authn.HashSecret(secret) }
