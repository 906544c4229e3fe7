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

// An Identity describes the authenticated caller of a request.
type Identity struct {
	Name    string // name of the token, or subject from the identity provider
	Role    access.Role
	Tenants []string  // tenants that the caller is restricted to; nil = unrestricted
	Kinds   []string  // worker tokens only: kinds of jobs that the worker may run; nil = all
	Queues  []string  // worker tokens only: queues that the worker may serve; nil = all
	Until   time.Time // expiry; zero = valid as long as the token exists
}

// localIdentity is the identity of all callers of a service without authentication.
var localIdentity = Identity{Name: "local", Role: access.RoleAdmin}

// bound reports whether the caller is restricted to some tenants.
func (i Identity) bound() bool { return len(i.Tenants) > 0 }

// boundToNothing reports whether the caller is restricted to an empty list of tenants,
// kinds or queues, and so has no permissions and is rejected.
func (i Identity) boundToNothing() bool {
	return slices.ContainsFunc([][]string{i.Tenants, i.Kinds, i.Queues}, func(names []string) bool { return names != nil && len(names) == 0 })
}

// over reports whether the identity has expired.
func (i Identity) over(now time.Time) bool { return !i.Until.IsZero() && !now.Before(i.Until) }

// same reports whether two identities have the same name and permissions.
func (i Identity) same(other Identity) bool {
	return i.Name == other.Name && i.Role == other.Role && slices.Equal(i.Tenants, other.Tenants) &&
		slices.Equal(i.Kinds, other.Kinds) && slices.Equal(i.Queues, other.Queues)
}

// touches reports whether the caller may access objects of a tenant.
func (i Identity) touches(tenant string) bool {
	if tenant == "" {
		tenant = fairlead.DefaultTenant
	}
	return !i.bound() || slices.Contains(i.Tenants, tenant)
}

// Errors for callers without the required permissions.
var (
	errNobody     = &rest.Error{Status: http.StatusUnauthorized, Detail: "no token; send one as Authorization: Bearer TOKEN"}
	errManyTokens = &rest.Error{Status: http.StatusUnauthorized, Detail: "the request has several Authorization headers, and a proxy might check a different one than this service; send exactly one"}
	errStranger   = &rest.Error{Status: http.StatusUnauthorized, Detail: "the token is unknown or has expired; ask an admin for a new one"}
	errRevoked    = &rest.Error{Status: http.StatusUnauthorized, Detail: "the token was revoked, changed or has expired; ask an admin for a new one"}
	errTooOften   = &rest.Error{Status: http.StatusTooManyRequests, Detail: "too many unknown tokens came from this address; try again later"}
	errNoDatabase = &rest.Error{Status: http.StatusServiceUnavailable, Detail: "the database does not respond; try again later"}
	errForbidden  = &rest.Error{Status: http.StatusForbidden, Detail: "this request requires a token without tenant restrictions"}
)

func errRole(has, needs access.Role) error {
	return &rest.Error{Status: http.StatusForbidden, Detail: "this request requires the role " + string(needs) + ", but the token has the role " + string(has)}
}

func errTenant(tenant string) error {
	return &rest.Error{Status: http.StatusForbidden, Detail: "the token does not grant access to tenant " + tenant}
}

// caller is the information about the caller of a request.
type caller struct {
	identity Identity
	refusal  error     // reason for rejecting the caller; nil = accepted
	since    time.Time // time of the identification
	from     string    // network address
	onceKey  string    // Idempotency-Key

	// recheck returns errRevoked if the identity is no longer valid, and another error if that
	// cannot be determined now; nil = the identity cannot be revoked.
	recheck      func(ctx context.Context) error
	recheckEvery time.Duration
}

type callerKey struct{}

func withCaller(ctx context.Context, c caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// callerOf returns the caller of the request. A context without a caller has no
// permissions.
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
