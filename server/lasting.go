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

// credential is why a caller is believed.
type credential struct {
	identity Identity
	hash     [32]byte // of the token, if that can be revoked
	kept     bool     // the token is in the database
	admin    bool     // it is the one that is kept in none
}

// identityOf is who has a token.
func identityOf(token access.Token) Identity {
	return Identity{
		Name: token.Name, Role: token.Role,
		Tenants: slices.Clone(token.Tenants), Kinds: slices.Clone(token.Kinds), Queues: slices.Clone(token.Queues),
	}
}

// recheck fails with errRevoked if a credential counts no longer: its token was
// removed or has expired, or now stands for another role or is bound to something else.
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

// recheckEvery is how often the callers of calls that last are looked up again. With
// the longest that a look-up takes it is less than ten seconds.
const recheckEvery = 2 * time.Second

// lasts reports whether calls of an endpoint may last much longer than it takes to
// answer them: they stream, or wait for something.
func lasts(endpoint *rest.Endpoint) bool {
	return endpoint.Method.IsStreamingServer() || endpoint.Method.IsStreamingClient() ||
		endpoint.Method.Input().Fields().ByName(protoreflect.Name("wait")) != nil
}

// whileBelieved returns the context of a call that lasts. The context ends, with
// errRevoked as its cause, within ten seconds after the caller's token was revoked or
// has expired. A database that does not answer ends nothing. The end of the call must
// be passed on to ended, which returns the error that the caller gets.
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

// stillBelieved is the error of a call whose context has ended because its caller is
// not believed any more; nil: it goes on.
func stillBelieved(ctx context.Context) error {
	if errors.Is(context.Cause(ctx), errRevoked) {
		return errRevoked
	}
	return nil
}

// believedStill fails if the caller's token was revoked, or has expired, while the body
// of its request came. A database that does not answer refuses no caller here.
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
