package server

import (
	"context"
	"errors"
	"slices"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/internal/rest"
)

// credential is the authenticated identity of a caller with its origin.
type credential struct {
	identity Identity
	hash     [32]byte // hash of the token, if it can be revoked
	kept     bool     // whether the token is stored in the database
	admin    bool     // whether it is the admin token, which is not stored in the database
}

// identityOf returns the identity of a token's owner.
func identityOf(token access.Token) Identity {
	return Identity{
		Name: token.Name, Role: token.Role,
		Tenants: slices.Clone(token.Tenants), Kinds: slices.Clone(token.Kinds), Queues: slices.Clone(token.Queues),
	}
}

// recheck returns errRevoked if a credential is no longer valid: its token was deleted, has
// expired, or now has another role or other restrictions.
func (i *identifier) recheck(ctx context.Context, c credential) error {
	if c.identity.over(time.Now()) {
		return errRevoked
	}
	if c.admin && !i.isAdmin(c.hash) {
		return errRevoked
	}
	if !c.kept {
		return nil
	}
	token, err := i.register.find(ctx, c.hash)
	switch {
	case errors.Is(err, fairlead.ErrNotFound):
		return errRevoked
	case err != nil:
		return err
	case token.Expired || !c.identity.same(identityOf(token)):
		return errRevoked
	}
	return nil
}

// recheckEvery is the interval at which the credentials of long calls are checked again.
// Including the maximum duration of a lookup, a revocation takes effect in less than ten
// seconds.
const recheckEvery = 2 * time.Second

// lasts reports whether calls of an endpoint may be long: they stream, or wait for
// something.
func lasts(endpoint *rest.Endpoint) bool {
	return endpoint.Method.IsStreamingServer() || endpoint.Method.IsStreamingClient() ||
		endpoint.Method.Input().Fields().ByName(protoreflect.Name("wait")) != nil
}

// whileBelieved returns the context for a long call. The context ends, with errRevoked as
// its cause, within ten seconds after the caller's token was revoked or has expired. An
// unavailable database does not end it. The caller must pass the result of the call to
// ended, which returns the error to send.
func whileBelieved(ctx context.Context) (lasting context.Context, ended func(error) error) {
	c := callerOf(ctx)
	if c.recheck == nil {
		return ctx, func(err error) error { return err }
	}
	lasting, cancel := context.WithCancelCause(ctx)
	go func() { // ends with the call
		ticker := time.NewTicker(c.recheckEvery)
		defer ticker.Stop()
		for {
			select {
			case <-lasting.Done():
				return
			case <-ticker.C:
			}
			if err := c.recheck(lasting); errors.Is(err, errRevoked) {
				cancel(errRevoked)
			}
		}
	}()
	return lasting, func(err error) error {
		revoked := errors.Is(context.Cause(lasting), errRevoked)
		cancel(nil)
		if revoked {
			return errRevoked
		}
		return err
	}
}

// stillBelieved returns errRevoked if the context of a call has ended because the caller's
// credential became invalid, and otherwise nil.
func stillBelieved(ctx context.Context) error {
	if errors.Is(context.Cause(ctx), errRevoked) {
		return errRevoked
	}
	return nil
}

// believedStill returns an error if the caller's token was revoked or has expired while the
// body of the request arrived. It returns nil if the database does not respond.
func believedStill(ctx context.Context) error {
	c := callerOf(ctx)
	if c.recheck == nil || time.Since(c.since) <= tokenTrust {
		return nil
	}
	if err := c.recheck(ctx); errors.Is(err, errRevoked) {
		return errRevoked
	}
	return nil
}
