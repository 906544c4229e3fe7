package rpc

import (
	"errors"
	"io"
	"strings"

	"connectrpc.com/connect"
)

// Passes reports whether a call failed before the service decided on its request. The
// service was unreachable, closed the connection before its response was complete, did not
// respond in time, or is shutting down. The same call may succeed later, or on a different
// server at the same address. The service may also have carried out the request, and only
// its response was lost.
//
// Connect uses many codes for these failures. For example, a connection reset is
// CodeCanceled, and so is a call that the caller cancelled. Only the caller's own context
// distinguishes the two, so check the context first.
func Passes(err error) bool {
	var failed *connect.Error
	if !errors.As(err, &failed) {
		return false
	}
	switch failed.Code() {
	case connect.CodeUnavailable, connect.CodeCanceled, connect.CodeDeadlineExceeded, connect.CodeUnimplemented:
		// A gateway without a backend, or an older server during an upgrade, does not know
		// the method.
		return true
	case connect.CodeUnknown:
		return !connect.IsWireError(err) && !refusedByProxy(failed.Message())
	case connect.CodeResourceExhausted:
		return !connect.IsWireError(err) // the service's own error for requests that are too large
	}
	// A message that cannot be encoded also has a client-side code, and is never retryable.
	return !connect.IsWireError(err) && (errors.Is(err, io.ErrUnexpectedEOF) || strings.HasPrefix(failed.Message(), "stream error: "))
}

// refusedByProxy reports whether a status line, which is the message of a response from
// another program than the service, means that the request itself is at fault, for example
// because it is too large. Such a request would be refused again. Status 408 concerns a
// slow connection instead.
func refusedByProxy(status string) bool {
	return len(status) > 3 && status[0] == '4' && status[3] == ' ' && !strings.HasPrefix(status, "408")
}
