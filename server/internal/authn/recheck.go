package authn

import (
	"context"
	"errors"
	"slices"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/server/internal/caller"
	"github.com/fairlead-io/fairlead/server/internal/rest"
)

// credential is the authenticated identity of a caller with its origin.
type credential struct {
	identity caller.Identity
	hash     [32]byte // hash of the token, if it can be revoked
	kept     bool     // whether the token is stored in the database
	admin    bool     // whether it is the admin token, which is not stored in the database
}

// identityOf returns the identity of a token's owner.
func identityOf(token access.Token) caller.Identity {
	return caller.Identity{
		Name: token.Name, Role: token.Role,
		Tenants: slices.Clone(token.Tenants), Kinds: slices.Clone(token.Kinds), Queues: slices.Clone(token.Queues),
	}
}

// recheck returns ErrRevoked if a credential is no longer valid: its token was deleted, has
// expired, or now has another role or other restrictions.
func (i *Authenticator) recheck(ctx context.Context, c credential) error {
	if c.identity.Expired(time.Now()) {
		return caller.ErrRevoked
	}
	if c.admin && !i.isAdmin(c.hash) {
		return caller.ErrRevoked
	}
	if !c.kept {
		return nil
	}
	token, err := i.register.find(ctx, c.hash)
	switch {
	case errors.Is(err, fairlead.ErrNotFound):
		return caller.ErrRevoked
	case err != nil:
		return err
	case token.Expired || !c.identity.Same(identityOf(token)):
		return caller.ErrRevoked
	}
	return nil
}

// RecheckEvery is the interval at which the credentials of long calls are checked again.
// Including the maximum duration of a lookup, a revocation takes effect in less than ten
// seconds.
const recheckEvery = 2 * time.Second

// Lasts reports whether calls of an endpoint may be long: they stream, or wait for
// something.
func Lasts(endpoint *rest.Endpoint) bool {
	return endpoint.Method.IsStreamingServer() || endpoint.Method.IsStreamingClient() ||
		endpoint.Method.Input().Fields().ByName(protoreflect.Name("wait")) != nil
}

// WhileValid returns the context for a long call. The context ends, with ErrRevoked as
// its cause, within ten seconds after the caller's token was revoked or has expired. An
// unavailable database does not end it. The caller must pass the result of the call to
// ended, which returns the error to send.
func WhileValid(ctx context.Context) (lasting context.Context, ended func(error) error) {
	c := caller.Of(ctx)
	if c.Recheck == nil {
		return ctx, func(err error) error { return err }
	}
	lasting, cancel := context.WithCancelCause(ctx)
	go func() { // ends with the call
		ticker := time.NewTicker(c.RecheckEvery)
		defer ticker.Stop()
		for {
			select {
			case <-lasting.Done():
				return
			case <-ticker.C:
			}
			if err := c.Recheck(lasting); errors.Is(err, caller.ErrRevoked) {
				cancel(caller.ErrRevoked)
			}
		}
	}()
	return lasting, func(err error) error {
		revoked := errors.Is(context.Cause(lasting), caller.ErrRevoked)
		cancel(nil)
		if revoked {
			return caller.ErrRevoked
		}
		return err
	}
}

// StillValid returns ErrRevoked if the context of a call has ended because the caller's
// credential became invalid, and otherwise nil.
func StillValid(ctx context.Context) error {
	if errors.Is(context.Cause(ctx), caller.ErrRevoked) {
		return caller.ErrRevoked
	}
	return nil
}

// CheckAgain returns an error if the caller's token was revoked or has expired while the
// body of the request arrived. It returns nil if the database does not respond.
func CheckAgain(ctx context.Context) error {
	c := caller.Of(ctx)
	if c.Recheck == nil || time.Since(c.Since) <= tokenTrust {
		return nil
	}
	if err := c.Recheck(ctx); errors.Is(err, caller.ErrRevoked) {
		return caller.ErrRevoked
	}
	return nil
}
