package console

import (
	"context"
	"fmt"
	"strings"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
)

// sharing asks the API each question once per tick for all viewers who may see the same.
// What changes something is never shared, nor is the question who a viewer is.
type sharing struct {
	answers perTick[connect.AnyResponse]
}

func newSharing() *sharing {
	return &sharing{answers: perTick[connect.AnyResponse]{size: func(answer connect.AnyResponse) int {
		message, ok := answer.Any().(proto.Message)
		if !ok {
			return 0
		}
		return proto.Size(message)
	}}}
}

// forget makes each question be asked anew.
func (s *sharing) forget() { s.answers.forget() }

// interceptor puts the sharing between a client and the API.
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
			answer, own, err := s.answers.share(ctx, time.Now(), key, func(ctx context.Context) (connect.AnyResponse, error) { return next(ctx, request) })
			if !own && personal(err) {
				return next(ctx, request)
			}
			return answer, err
		}
	}
}

// personal reports whether an error is about the one who asked: the token of another may
// have been revoked, or its context may have ended.
func personal(err error) bool {
	switch connect.CodeOf(err) {
	case connect.CodeUnauthenticated, connect.CodePermissionDenied, connect.CodeResourceExhausted, connect.CodeCanceled:
		return err != nil
	}
	return false
}

// reads reports whether a method only reads. It goes by the method's name, as the schema
// does: what is not known to read is not shared.
func reads(procedure string) bool {
	name := procedure[strings.LastIndexByte(procedure, '/')+1:]
	for _, verb := range []string{"Get", "List", "Count", "Explain", "Preview"} {
		if strings.HasPrefix(name, verb) {
			return true
		}
	}
	return false
}
