// Package pipeline processes the requests of all protocols alike: it checks permissions, records
// changes and converts errors.
package pipeline

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
	"github.com/fairlead-io/fairlead/server/internal/audit"
	"github.com/fairlead-io/fairlead/server/internal/authn"
	"github.com/fairlead-io/fairlead/server/internal/caller"
	"github.com/fairlead-io/fairlead/server/internal/overload"
	"github.com/fairlead-io/fairlead/server/internal/rest"
)

// Pipeline processes every request, whatever its protocol: it checks whether the caller is
// allowed to make the request, and records it in the audit log.
type Pipeline struct {
	Audit *audit.Recorder
}

// Around returns an endpoint whose requests pass through the pipeline.
func (d *Pipeline) Around(endpoint *rest.Endpoint) *rest.Endpoint {
	guarded := *endpoint
	if endpoint.Call != nil {
		guarded.Call = func(ctx context.Context, request proto.Message) (proto.Message, error) {
			return d.Call(ctx, endpoint, request, endpoint.Call)
		}
	}
	if endpoint.Stream != nil {
		guarded.Stream = func(ctx context.Context, request proto.Message, send func(proto.Message) error) error {
			if err := Admit(ctx, endpoint); err != nil {
				return err
			}
			closed, err := overload.OpenStream(ctx)
			if err != nil {
				return err
			}
			defer closed()
			lasting, ended := authn.WhileValid(ctx)
			return Unavailable(ctx, ended(endpoint.Stream(lasting, request, func(message proto.Message) error {
				if err := authn.StillValid(lasting); err != nil {
					return err
				}
				return send(message)
			})))
		}
	}
	return &guarded
}

// Call processes a request.
func (d *Pipeline) Call(ctx context.Context, endpoint *rest.Endpoint, request proto.Message, next func(context.Context, proto.Message) (proto.Message, error)) (proto.Message, error) {
	if err := Admit(ctx, endpoint); err != nil {
		return nil, err
	}
	if err := authn.CheckAgain(ctx); err != nil {
		return nil, err
	}
	overload.SettleBody(ctx, request)
	ctx, err := remembering(ctx, endpoint, request)
	if err != nil {
		return nil, err
	}
	if authn.Lasts(endpoint) {
		closed, err := overload.OpenStream(ctx)
		if err != nil {
			return nil, err
		}
		defer closed()
		next = WhileValid(next)
	}
	answer, err := overload.WithMemory(ctx, endpoint, func() (proto.Message, error) {
		if audit.Logged(endpoint) && !audit.IsDryRun(request) {
			return d.Audit.Around(ctx, endpoint, request, next)
		}
		return next(ctx, request)
	})
	return answer, Unavailable(ctx, err)
}

// WhileValid returns a call that ends when the caller's credential becomes invalid.
func WhileValid(next func(context.Context, proto.Message) (proto.Message, error)) func(context.Context, proto.Message) (proto.Message, error) {
	return func(ctx context.Context, request proto.Message) (proto.Message, error) {
		lasting, ended := authn.WhileValid(ctx)
		answer, err := next(lasting, request)
		if err = ended(err); err != nil {
			return nil, err
		}
		return answer, nil
	}
}

// Unavailable converts a timeout of the database to ErrUnavailable, if the caller itself would
// have waited longer.
func Unavailable(ctx context.Context, err error) error {
	if ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, fairlead.ErrUnavailable) {
		return err
	}
	return fmt.Errorf("%w: %w", fairlead.ErrUnavailable, err)
}

// Admit checks whether the caller may use an endpoint.
func Admit(ctx context.Context, endpoint *rest.Endpoint) error {
	c := caller.Of(ctx)
	if c.Refusal != nil {
		return c.Refusal
	}
	needed := access.Role(endpoint.Access.GetRole())
	if !endpoint.Access.GetAny() && !c.Identity.Role.May(needed) {
		return caller.ErrRole(c.Identity.Role, needed)
	}
	return nil
}

// remembering makes a request with an idempotency key take effect only once. Requests that
// enqueue jobs check the key; other requests are idempotent anyway.
func remembering(ctx context.Context, endpoint *rest.Endpoint, request proto.Message) (context.Context, error) {
	c := caller.Of(ctx)
	if c.OnceKey == "" {
		return ctx, nil
	}
	switch {
	case len(c.OnceKey) > fairlead.MaxKey:
		return nil, rest.InvalidField("Idempotency-Key", fmt.Sprintf("has %d bytes; at most %d are allowed", len(c.OnceKey), fairlead.MaxKey))
	case !utf8.ValidString(c.OnceKey) || strings.ContainsRune(c.OnceKey, 0):
		return nil, rest.InvalidField("Idempotency-Key", "is not valid UTF-8, or contains a NUL character")
	}
	raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(request)
	if err != nil {
		return nil, err
	}
	hash := sha256.New()
	fmt.Fprintf(hash, "%s\n", endpoint.Method.FullName())
	hash.Write(raw)
	return caller.WithOnce(ctx, fairlead.Once{Caller: c.Identity.Name, Key: c.OnceKey, Request: [32]byte(hash.Sum(nil))}), nil
}
