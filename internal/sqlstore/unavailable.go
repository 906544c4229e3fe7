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

// unavailable is an error that passes. It keeps its text and its causes.
type unavailable struct{ error }

// Is makes it a fairlead.ErrUnavailable.
func (unavailable) Is(target error) bool { return target == fairlead.ErrUnavailable }

// Unwrap returns the cause.
func (u unavailable) Unwrap() error { return u.error }

// errTooSlow is the cause if WithTimeout ends a call before the caller's own deadline.
var errTooSlow error = unavailable{fmt.Errorf("the database took longer than the store's timeout: %w", context.DeadlineExceeded)}

// WithTimeout bounds a call, unless the caller's own deadline is earlier.
func WithTimeout(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, timeout, errTooSlow)
}

// Ended returns the error of a call whose context has ended: fairlead.ErrUnavailable if
// the database was too slow, otherwise the caller's own.
func Ended(ctx context.Context) error {
	if cause := context.Cause(ctx); cause == nil || errors.Is(cause, errTooSlow) {
		return cause // read once: the context may end between two looks at it
	}
	return ctx.Err()
}

// MarkUnavailable wraps the error of a call in fairlead.ErrUnavailable if it passes:
// the server refused for a reason that passes, was not reached, broke off, or took
// longer than the store waits. A caller that cancelled gets only its own context's
// error.
func MarkUnavailable(ctx context.Context, err error, passes func(error) bool) error {
	ended := Ended(ctx)
	switch {
	case err == nil, errors.Is(err, fairlead.ErrUnavailable), isVerdict(err):
		return err
	case ended == errTooSlow: //nolint:errorlint // it is this very one
		return unavailable{err}
	case ended != nil: // the caller cancelled, which some drivers report as an error that passes
		return err
	case passes(err), brokeOff(err):
		return unavailable{err}
	}
	return err
}

// isVerdict reports whether an error is one that callers distinguish: the database has
// answered.
func isVerdict(err error) bool {
	for _, verdict := range []error{fairlead.ErrNotFound, fairlead.ErrConflict, fairlead.ErrInvalid, fairlead.ErrLeaseLost, fairlead.ErrExpired, fairlead.ErrLimit} {
		if errors.Is(err, verdict) {
			return true
		}
	}
	return false
}

// brokeOff reports whether a connection could not be made, ended, or took too long.
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
