package console

import (
	"context"
	"fmt"
	"strings"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/fairlead-io/fairlead/console/internal/shared"
)

// sharing makes each API query once per tick for all viewers with the same permissions. It
// does not share changes, or queries for the identity of a viewer.
type sharing struct {
	answers shared.PerTick[connect.AnyResponse]
}

func newSharing() *sharing {
	return &sharing{answers: shared.PerTick[connect.AnyResponse]{Size: func(answer connect.AnyResponse) int {
		message, ok := answer.Any().(proto.Message)
		if !ok {
			return 0
		}
		return proto.Size(message)
	}}}
}

// forget clears all shared answers.
func (s *sharing) forget() { s.answers.Forget() }

// interceptor returns the interceptor between a client and the API.
func (s *sharing) interceptor() connect.UnaryInterceptorFunc {
	return func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
			who := viewerOf(ctx)
			message, ok := request.Any().(proto.Message)
			if who == nil || who.scope == "" || !ok || !reads(request.Spec().Procedure) {
				return next(ctx, request)
			}
			raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(message)
			if err != nil {
				return nil, err
			}
			key := fmt.Sprintf("%q %s %s", who.scope, request.Spec().Procedure, raw)
			answer, own, err := s.answers.Share(ctx, time.Now(), key, func(ctx context.Context) (connect.AnyResponse, error) { return next(ctx, request) })
			if !own && personal(err) {
				return next(ctx, request)
			}
			return answer, err
		}
	}
}

// personal reports whether an error concerns only the caller: the token may have been
// revoked, or the context may have ended.
func personal(err error) bool {
	switch connect.CodeOf(err) {
	case connect.CodeUnauthenticated, connect.CodePermissionDenied, connect.CodeResourceExhausted, connect.CodeCanceled:
		return err != nil
	}
	return false
}

// reads reports whether a method only reads, based on its name. Methods that are not known
// to be read-only are not shared.
func reads(procedure string) bool {
	name := procedure[strings.LastIndexByte(procedure, '/')+1:]
	for _, verb := range []string{"Get", "List", "Count", "Explain", "Preview"} {
		if strings.HasPrefix(name, verb) {
			return true
		}
	}
	return false
}
