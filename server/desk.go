package server

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/rest"
)

// desk is where every request passes, whatever protocol it came by: it decides
// whether its caller may make it, and writes down what was done.
type desk struct {
	audit *auditor
	store fairlead.Reader
	log   *slog.Logger
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
			lasting, ended := whileBelieved(ctx)
			return ended(endpoint.Stream(lasting, request, func(message proto.Message) error {
				if err := stillBelieved(lasting); err != nil {
					return err
				}
				return send(message)
			}))
		}
	}
	return &guarded
}

// call lets a request through.
func (d *desk) call(ctx context.Context, endpoint *rest.Endpoint, request proto.Message, next func(context.Context, proto.Message) (proto.Message, error)) (proto.Message, error) {
	if err := admit(ctx, endpoint); err != nil {
		return nil, err
	}
	ctx, err := remembering(ctx, endpoint, request)
	if err != nil {
		return nil, err
	}
	if lasts(endpoint) {
		next = endingWithBelief(next)
	}
	var answer proto.Message
	if logged(endpoint) {
		answer, err = d.audit.around(ctx, endpoint, request, next)
	} else {
		answer, err = next(ctx, request)
	}
	return answer, d.blame(ctx, endpoint, err)
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

// probePatience is how long a database may take to show that it is there.
const probePatience = 2 * time.Second

// blame finds out whether a failure is the database's, which callers should hear
// of: it is worth trying again.
func (d *desk) blame(ctx context.Context, endpoint *rest.Endpoint, err error) error {
	if err == nil || refused(err) || ctx.Err() != nil {
		return err
	}
	probe, cancel := context.WithTimeout(ctx, probePatience)
	defer cancel()
	if _, gone := d.store.Now(probe); gone == nil {
		return err
	}
	d.log.Error("request failed: the database does not answer", "method", endpoint.Method.Name(), "error", err)
	return errNoDatabase
}

// admit decides whether the caller may use an endpoint.
func admit(ctx context.Context, endpoint *rest.Endpoint) error {
	c := callerOf(ctx)
	if c.refusal != nil {
		return c.refusal
	}
	needed := fairlead.Role(endpoint.Access.GetRole())
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
	if len(c.onceKey) > fairlead.MaxKey {
		return nil, refuseField("Idempotency-Key", fmt.Sprintf("has %d bytes; at most %d are kept", len(c.onceKey), fairlead.MaxKey))
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
