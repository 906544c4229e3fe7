package cli

import (
	"errors"
	"fmt"

	"connectrpc.com/connect"

	"github.com/fairlead-io/fairlead"
)

// Exit codes, which scripts rely on.
const (
	ExitOK          = 0
	ExitFailure     = 1
	ExitUsage       = 2
	ExitNotFound    = 3
	ExitConflict    = 4
	ExitAuth        = 5
	ExitUnavailable = 6
	ExitJobFailed   = 7
)

// exits maps error codes of a server to exit codes. All others map to ExitFailure.
var exits = map[connect.Code]int{
	connect.CodeInvalidArgument:    ExitUsage,
	connect.CodeOutOfRange:         ExitUsage,
	connect.CodeNotFound:           ExitNotFound,
	connect.CodeAlreadyExists:      ExitConflict,
	connect.CodeFailedPrecondition: ExitConflict,
	connect.CodeAborted:            ExitConflict,
	connect.CodeUnauthenticated:    ExitAuth,
	connect.CodePermissionDenied:   ExitAuth,
	connect.CodeUnavailable:        ExitUnavailable,
	connect.CodeDeadlineExceeded:   ExitUnavailable,
	connect.CodeResourceExhausted:  ExitUnavailable, // a limit was reached: a later try may succeed
}

// exitError is an error with an exit code.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// Usagef returns an error that reports a mistake in the command line or configuration.
func Usagef(format string, args ...any) error {
	return &exitError{ExitUsage, fmt.Errorf(format, args...)}
}

func failf(code int, format string, args ...any) error {
	return &exitError{code, fmt.Errorf(format, args...)}
}

// ExitCode returns the exit code that corresponds to err.
func ExitCode(err error) int {
	var coded *exitError
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &coded):
		return coded.code
	case errors.Is(err, fairlead.ErrInvalid):
		return ExitUsage
	case errors.Is(err, fairlead.ErrNotFound):
		return ExitNotFound
	case errors.Is(err, fairlead.ErrConflict):
		return ExitConflict
	case errors.Is(err, fairlead.ErrUnavailable):
		return ExitUnavailable
	default:
		return ExitFailure
	}
}
