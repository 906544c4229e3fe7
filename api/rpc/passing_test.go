package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"connectrpc.com/connect"

	"github.com/fairlead-io/fairlead/api/rpc"
)

// What the service has decided does not pass; what kept its answer from the caller does.
func TestOnlyACallWithoutADecisionPasses(t *testing.T) {
	stream := errors.New("stream error: stream ID 3; INTERNAL_ERROR; received from peer")
	for _, c := range []struct {
		name  string
		err   error
		wants bool
	}{
		{"no error", nil, false},
		{"an error of another kind", io.ErrUnexpectedEOF, false},
		{"not reached", connect.NewError(connect.CodeUnavailable, errors.New("connection refused")), true},
		{"reset", connect.NewError(connect.CodeCanceled, errors.New("connection reset by peer")), true},
		{"no answer in time", connect.NewError(connect.CodeDeadlineExceeded, context.DeadlineExceeded), true},
		{"broken off", connect.NewError(connect.CodeUnknown, io.ErrUnexpectedEOF), true},
		{"broken off in an envelope", connect.NewError(connect.CodeInvalidArgument, fmt.Errorf("incomplete envelope: %w", io.ErrUnexpectedEOF)), true},
		{"an HTTP/2 stream that ended", connect.NewError(connect.CodeInternal, stream), true},
		{"HTTP/2 asks for calm", connect.NewError(connect.CodeResourceExhausted, stream), true},
		{"wrapped", fmt.Errorf("save: %w", connect.NewError(connect.CodeCanceled, io.EOF)), true},
		{"a proxy that failed", connect.NewError(connect.CodeUnknown, errors.New("500 Internal Server Error")), true},
		{"a proxy that did not get all", connect.NewError(connect.CodeUnknown, errors.New("408 Request Timeout")), true},
		{"a proxy to which it is too large", connect.NewError(connect.CodeUnknown, errors.New("413 Request Entity Too Large")), false},
		{"a message that cannot be encoded", connect.NewError(connect.CodeInternal, errors.New("marshal message: invalid UTF-8")), false},
		{"an answer that cannot be decoded", connect.NewError(connect.CodeInvalidArgument, errors.New("unmarshal message")), false},
		{"the service stops", connect.NewWireError(connect.CodeCanceled, context.Canceled), true},
		{"an older service", connect.NewWireError(connect.CodeUnimplemented, errors.New("unknown method")), true},
		{"the service says too large", connect.NewWireError(connect.CodeResourceExhausted, errors.New("message is larger")), false},
		{"the service says invalid", connect.NewWireError(connect.CodeInvalidArgument, io.ErrUnexpectedEOF), false},
		{"the service says lost", connect.NewWireError(connect.CodeAborted, errors.New("lease lost")), false},
		{"the service failed", connect.NewWireError(connect.CodeInternal, errors.New("its log says why")), false},
	} {
		if got := rpc.Passes(c.err); got != c.wants {
			t.Errorf("%s: %v, want %v", c.name, got, c.wants)
		}
	}
}
