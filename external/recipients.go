package external

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/fairlead-io/fairlead"
)

const (
	// remembered is how long a tenant is cached.
	remembered = 3 * time.Second
	// maxRemembered is the maximum number of cached tenants.
	maxRemembered = 10_000
)

// A recipient is a tenant together with its signing key.
type recipient struct {
	fairlead.Tenant
	key   string
	until time.Time // expiry of the cache entry
}

// recipients reads and briefly caches tenants.
type recipients struct {
	client *fairlead.Client

	mu    sync.Mutex
	known map[string]recipient
}

func newRecipients(client *fairlead.Client) *recipients {
	return &recipients{client: client, known: map[string]recipient{}}
}

// find returns a tenant. It returns the cached tenant only if willDo accepts it, so that a
// new URL takes effect immediately. A tenant that is not declared has no URLs.
func (r *recipients) find(ctx context.Context, name string, willDo func(fairlead.Tenant) bool) (recipient, error) {
	r.mu.Lock()
	known, ok := r.known[name]
	r.mu.Unlock()
	if ok && time.Now().Before(known.until) && willDo(known.Tenant) {
		return known, nil
	}
	found, err := r.read(ctx, name)
	if err != nil {
		return recipient{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.known) >= maxRemembered {
		clear(r.known)
	}
	r.known[name] = found
	return found, nil
}

func (r *recipients) read(ctx context.Context, name string) (recipient, error) {
	found := recipient{until: time.Now().Add(remembered)}
	tenant, err := r.client.Tenant(ctx, name)
	switch {
	case errors.Is(err, fairlead.ErrNotFound):
		found.Tenant = fairlead.Tenant{Name: name}
		return found, nil
	case err != nil:
		return found, err
	}
	found.Tenant = tenant
	if tenant.StartURL == "" && tenant.FailURL == "" && tenant.TimeoutURL == "" {
		return found, nil // no message needs a signature
	}
	found.key, err = r.client.SigningKey(ctx, name)
	return found, err
}

// Conditions under which a cached tenant may be used.

func hasStartURL(t fairlead.Tenant) bool   { return t.StartURL != "" }
func hasTimeoutURL(t fairlead.Tenant) bool { return t.TimeoutURL != "" }
func hasAnything(fairlead.Tenant) bool     { return true }
