package server

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/internal/rest"
)

// Identity is who sends a request.
type Identity struct {
	Name    string // of the token, or what the identity provider calls the caller
	Role    access.Role
	Tenants []string  // bound to these; nil: it is not bound
	Kinds   []string  // of a worker: the kinds of the jobs that it may run; nil: all
	Queues  []string  // of a worker: the queues that it may serve; nil: all
	Until   time.Time // when it is believed no longer; zero: as long as its token is kept
}

// localIdentity is every caller of a service that does not authenticate them.
var localIdentity = Identity{Name: "local", Role: access.RoleAdmin}

// bound reports whether it may touch some tenants only.
func (i Identity) bound() bool { return len(i.Tenants) > 0 }

// boundToNothing reports whether it is bound, and to no tenant, kind or queue: it may do
// nothing, and is refused.
func (i Identity) boundToNothing() bool {
	return slices.ContainsFunc([][]string{i.Tenants, i.Kinds, i.Queues}, func(names []string) bool { return names != nil && len(names) == 0 })
}

// over reports whether it is believed no longer.
func (i Identity) over(now time.Time) bool { return !i.Until.IsZero() && !now.Before(i.Until) }

// same reports whether two identities may do the same under the same name.
func (i Identity) same(other Identity) bool {
	return i.Name == other.Name && i.Role == other.Role && slices.Equal(i.Tenants, other.Tenants) &&
		slices.Equal(i.Kinds, other.Kinds) && slices.Equal(i.Queues, other.Queues)
}

// touches reports whether it may touch what is a tenant's.
func (i Identity) touches(tenant string) bool {
	if tenant == "" {
		tenant = fairlead.DefaultTenant
	}
	return !i.bound() || slices.Contains(i.Tenants, tenant)
}

// What is said to callers who may not do what they ask for.
var (
	errNobody     = &rest.Error{Status: http.StatusUnauthorized, Detail: "no token; send one as Authorization: Bearer TOKEN"}
	errManyTokens = &rest.Error{Status: http.StatusUnauthorized, Detail: "the request has several Authorization headers, and a proxy might check a different one than this service; send exactly one"}
	errStranger   = &rest.Error{Status: http.StatusUnauthorized, Detail: "the token is unknown or has expired; ask an admin for a new one"}
	errRevoked    = &rest.Error{Status: http.StatusUnauthorized, Detail: "the token was revoked, changed or has expired; ask an admin for a new one"}
	errTooOften   = &rest.Error{Status: http.StatusTooManyRequests, Detail: "too many unknown tokens came from this address; try again later"}
	errNoDatabase = &rest.Error{Status: http.StatusServiceUnavailable, Detail: "the database does not respond; try again later"}
	errForbidden  = &rest.Error{Status: http.StatusForbidden, Detail: "this needs a token that is not bound to tenants"}
)

func errRole(has, needs access.Role) error {
	return &rest.Error{Status: http.StatusForbidden, Detail: "this needs the role " + string(needs) + "; the token has " + string(has)}
}

func errTenant(tenant string) error {
	return &rest.Error{Status: http.StatusForbidden, Detail: "the token is not for tenant " + tenant}
}

// caller is what is known of who sends a request.
type caller struct {
	identity Identity
	refusal  error     // why the caller is not believed; nil: it is
	since    time.Time // when the caller was identified
	from     string    // network address
	onceKey  string    // Idempotency-Key

	// recheck fails with errRevoked if the identity is believed no longer, and with
	// another error if that cannot be found out now; nil: it is believed for good.
	recheck      func(ctx context.Context) error
	recheckEvery time.Duration
}

type callerKey struct{}

func withCaller(ctx context.Context, c caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// callerOf is who sends the request. A context without a caller may do nothing.
func callerOf(ctx context.Context) caller {
	c, known := ctx.Value(callerKey{}).(caller)
	if !known {
		return caller{refusal: errNobody}
	}
	return c
}

type onceValue struct{}

func withOnce(ctx context.Context, once fairlead.Once) context.Context {
	return context.WithValue(ctx, onceValue{}, once)
}

func onceOf(ctx context.Context) (fairlead.Once, bool) {
	once, given := ctx.Value(onceValue{}).(fairlead.Once)
	return once, given
}
