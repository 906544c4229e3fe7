// Package caller describes the authenticated caller of a request and the caller's permissions.
package caller

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/server/internal/rest"
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

// Local is the identity of all callers of a service without authentication.
var Local = Identity{Name: "local", Role: access.RoleAdmin}

// Restricted reports whether the caller is restricted to some tenants.
func (i Identity) Restricted() bool { return len(i.Tenants) > 0 }

// RestrictedToNothing reports whether the caller is restricted to an empty list of tenants,
// kinds or queues, and so has no permissions and is rejected.
func (i Identity) RestrictedToNothing() bool {
	return slices.ContainsFunc([][]string{i.Tenants, i.Kinds, i.Queues}, func(names []string) bool { return names != nil && len(names) == 0 })
}

// Expired reports whether the identity has expired.
func (i Identity) Expired(now time.Time) bool { return !i.Until.IsZero() && !now.Before(i.Until) }

// Same reports whether two identities have the same name and permissions.
func (i Identity) Same(other Identity) bool {
	return i.Name == other.Name && i.Role == other.Role && slices.Equal(i.Tenants, other.Tenants) &&
		slices.Equal(i.Kinds, other.Kinds) && slices.Equal(i.Queues, other.Queues)
}

// MayAccess reports whether the caller may access objects of a tenant.
func (i Identity) MayAccess(tenant string) bool {
	if tenant == "" {
		tenant = fairlead.DefaultTenant
	}
	return !i.Restricted() || slices.Contains(i.Tenants, tenant)
}

// Errors for callers without the required permissions.
var (
	ErrNoToken        = &rest.Error{Status: http.StatusUnauthorized, Detail: "no token; send one as Authorization: Bearer TOKEN"}
	ErrManyTokens     = &rest.Error{Status: http.StatusUnauthorized, Detail: "the request has several Authorization headers, and a proxy might check a different one than this service; send exactly one"}
	ErrUnknownToken   = &rest.Error{Status: http.StatusUnauthorized, Detail: "the token is unknown or has expired; ask an admin for a new one"}
	ErrRevoked        = &rest.Error{Status: http.StatusUnauthorized, Detail: "the token was revoked, changed or has expired; ask an admin for a new one"}
	ErrTooManyUnknown = &rest.Error{Status: http.StatusTooManyRequests, Detail: "too many unknown tokens came from this address; try again later"}
	ErrNoDatabase     = &rest.Error{Status: http.StatusServiceUnavailable, Detail: "the database does not respond; try again later"}
	ErrForbidden      = &rest.Error{Status: http.StatusForbidden, Detail: "this request requires a token without tenant restrictions"}
)

func ErrRole(has, needs access.Role) error {
	return &rest.Error{Status: http.StatusForbidden, Detail: "this request requires the role " + string(needs) + ", but the token has the role " + string(has)}
}

func ErrTenant(tenant string) error {
	return &rest.Error{Status: http.StatusForbidden, Detail: "the token does not grant access to tenant " + tenant}
}

// Caller is the information about the caller of a request.
type Caller struct {
	Identity Identity
	Refusal  error     // reason for rejecting the caller; nil = accepted
	Since    time.Time // time of the identification
	From     string    // network address
	OnceKey  string    // Idempotency-Key

	// recheck returns ErrRevoked if the identity is no longer valid, and another error if that
	// cannot be determined now; nil = the identity cannot be revoked.
	Recheck      func(ctx context.Context) error
	RecheckEvery time.Duration
}

type callerKey struct{}

func With(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// Of returns the caller of the request. A context without a caller has no
// permissions.
func Of(ctx context.Context) Caller {
	c, known := ctx.Value(callerKey{}).(Caller)
	if !known {
		return Caller{Refusal: ErrNoToken}
	}
	return c
}

type onceValue struct{}

func WithOnce(ctx context.Context, once fairlead.Once) context.Context {
	return context.WithValue(ctx, onceValue{}, once)
}

func OnceOf(ctx context.Context) (fairlead.Once, bool) {
	once, given := ctx.Value(onceValue{}).(fairlead.Once)
	return once, given
}
