package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/fairlead-io/fairlead"
)

// unavailable marks an error as transient. It preserves its message and its causes.
type unavailable struct{ error }

// Is makes errors.Is match fairlead.ErrUnavailable.
func (unavailable) Is(target error) bool { return target == fairlead.ErrUnavailable }

// Unwrap returns the cause.
func (u unavailable) Unwrap() error { return u.error }

// errTooSlow is the cause if WithTimeout ends a call before the caller's own deadline.
var errTooSlow error = unavailable{fmt.Errorf("the database took longer than the store's timeout: %w", context.DeadlineExceeded)}

// WithTimeout returns a context that ends after the store's timeout, or earlier if ctx has an
// earlier deadline.
func WithTimeout(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, timeout, errTooSlow)
}

// Ended returns the error for a call whose context has ended. It returns
// fairlead.ErrUnavailable if the database was too slow. Otherwise, it returns the error of the
// caller's context.
func Ended(ctx context.Context) error {
	if cause := context.Cause(ctx); cause == nil || errors.Is(cause, errTooSlow) {
		return cause // cause is read only once: the context may end between two reads
	}
	return ctx.Err()
}

// MarkUnavailable wraps a call's error in fairlead.ErrUnavailable if the error is transient.
// This is the case if the server refused the call for a transient reason, was unreachable,
// closed the connection, or exceeded the store's timeout. If the caller cancelled the call,
// MarkUnavailable returns the error unchanged.
func MarkUnavailable(ctx context.Context, err error, passes func(error) bool) error {
	ended := Ended(ctx)
	switch {
	case err == nil, errors.Is(err, fairlead.ErrUnavailable), isVerdict(err):
		return err
	case ended == errTooSlow: //nolint:errorlint // compares with this exact error
		return unavailable{err}
	case ended != nil: // the caller cancelled, which some drivers report as a transient error
		return err
	case passes(err), brokeOff(err):
		return unavailable{err}
	}
	return err
}

// isVerdict reports whether an error is one that callers distinguish, which means that the
// database has answered.
func isVerdict(err error) bool {
	for _, verdict := range []error{fairlead.ErrNotFound, fairlead.ErrConflict, fairlead.ErrInvalid, fairlead.ErrLeaseLost, fairlead.ErrExpired, fairlead.ErrLimit} {
		if errors.Is(err, verdict) {
			return true
		}
	}
	return false
}

// brokeOff reports whether a connection failed, was closed, or timed out.
func brokeOff(err error) bool {
	if network := net.Error(nil); errors.As(err, &network) {
		return true
	}
	for _, end := range []error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, driver.ErrBadConn, sql.ErrConnDone} {
		if errors.Is(err, end) {
			return true
		}
	}
	return false
}
