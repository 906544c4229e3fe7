package server

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/internal/rest"
)

// desk is where every request passes, whatever protocol it came by: it decides
// whether its caller may make it, and writes down what was done.
type desk struct {
	audit *auditor
}

// around is an endpoint whose requests pass the desk.
func (d *desk) around(endpoint *rest.Endpoint) *rest.Endpoint {
	guarded := *endpoint
	if endpoint.Call != nil {
		guarded.Call = func(ctx context.Context, request proto.Message) (proto.Message, error) {
			return d.call(ctx, endpoint, request, endpoint.Call)
		}
	}
	if endpoint.Stream != nil {
		guarded.Stream = func(ctx context.Context, request proto.Message, send func(proto.Message) error) error {
			if err := admit(ctx, endpoint); err != nil {
				return err
			}
			closed, err := openStream(ctx)
			if err != nil {
				return err
			}
			defer closed()
			lasting, ended := whileBelieved(ctx)
			return slow(ctx, ended(endpoint.Stream(lasting, request, func(message proto.Message) error {
				if err := stillBelieved(lasting); err != nil {
					return err
				}
				return send(message)
			})))
		}
	}
	return &guarded
}

// call lets a request through.
func (d *desk) call(ctx context.Context, endpoint *rest.Endpoint, request proto.Message, next func(context.Context, proto.Message) (proto.Message, error)) (proto.Message, error) {
	if err := admit(ctx, endpoint); err != nil {
		return nil, err
	}
	if err := believedStill(ctx); err != nil {
		return nil, err
	}
	settleShare(ctx, request)
	ctx, err := remembering(ctx, endpoint, request)
	if err != nil {
		return nil, err
	}
	if lasts(endpoint) {
		closed, err := openStream(ctx)
		if err != nil {
			return nil, err
		}
		defer closed()
		next = endingWithBelief(next)
	}
	answer, err := answered(ctx, endpoint, func() (proto.Message, error) {
		if logged(endpoint) && !rehearses(request) {
			return d.audit.around(ctx, endpoint, request, next)
		}
		return next(ctx, request)
	})
	return answer, slow(ctx, err)
}

// endingWithBelief is a call that lasts no longer than its caller is believed.
func endingWithBelief(next func(context.Context, proto.Message) (proto.Message, error)) func(context.Context, proto.Message) (proto.Message, error) {
	return func(ctx context.Context, request proto.Message) (proto.Message, error) {
		lasting, ended := whileBelieved(ctx)
		answer, err := next(lasting, request)
		if err = ended(err); err != nil {
			return nil, err
		}
		return answer, nil
	}
}

// slow makes it an ErrUnavailable that the database took longer than this service
// waits for it, if the caller would still have waited.
func slow(ctx context.Context, err error) error {
	if ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, fairlead.ErrUnavailable) {
		return err
	}
	return fmt.Errorf("%w: %w", fairlead.ErrUnavailable, err)
}

// admit decides whether the caller may use an endpoint.
func admit(ctx context.Context, endpoint *rest.Endpoint) error {
	c := callerOf(ctx)
	if c.refusal != nil {
		return c.refusal
	}
	needed := access.Role(endpoint.Access.GetRole())
	if !endpoint.Access.GetAny() && !c.identity.Role.May(needed) {
		return errRole(c.identity.Role, needed)
	}
	return nil
}

// remembering makes a request count once if it comes with a key. Requests that
// enqueue look for it; the others can be repeated as they are.
func remembering(ctx context.Context, endpoint *rest.Endpoint, request proto.Message) (context.Context, error) {
	c := callerOf(ctx)
	if c.onceKey == "" {
		return ctx, nil
	}
	switch {
	case len(c.onceKey) > fairlead.MaxKey:
		return nil, refuseField("Idempotency-Key", fmt.Sprintf("has %d bytes; at most %d are allowed", len(c.onceKey), fairlead.MaxKey))
	case !utf8.ValidString(c.onceKey) || strings.ContainsRune(c.onceKey, 0):
		return nil, refuseField("Idempotency-Key", "is not valid UTF-8, or contains a NUL character")
	}
	raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(request)
	if err != nil {
		return nil, err
	}
	hash := sha256.New()
	fmt.Fprintf(hash, "%s\n", endpoint.Method.FullName())
	hash.Write(raw)
	return withOnce(ctx, fairlead.Once{Caller: c.identity.Name, Key: c.onceKey, Request: [32]byte(hash.Sum(nil))}), nil
}
