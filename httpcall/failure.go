package httpcall

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/fairlead-io/fairlead/internal/outbound"
)

// Class classifies the failure of a call.
type Class string

// The classes of failures.
const (
	ClassTimeout  Class = "timeout"  // the complete answer did not arrive in time
	ClassCanceled Class = "canceled" // the call was aborted: the job was cancelled, or its node is stopping
	ClassConnect  Class = "connect"  // the target could not be reached, or closed the connection
	ClassStatus   Class = "status"   // the answer does not count as a success
)

// Error describes a failed call. Its text begins with its class.
type Error struct {
	Class Class // class of the failure
	Err   error // cause
}

// Error returns the failure's class, followed by the text of Err.
func (e *Error) Error() string { return string(e.Class) + ": " + e.Err.Error() }

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// noAnswer is the failure of a call that got no whole answer.
func noAnswer(request *http.Request, err error) *Error {
	ctx := request.Context()
	asked := request.Method + " " + shown(request.URL)
	var unreached *url.Error
	if errors.As(err, &unreached) {
		err = unreached.Err // which does not name the whole URL
	}
	switch {
	case ctx.Err() != nil && overdue(ctx):
		return lateAnswer(request)
	case ctx.Err() != nil:
		return &Error{ClassCanceled, fmt.Errorf("%s: the call was cancelled before a response arrived", asked)}
	default:
		return &Error{ClassConnect, fmt.Errorf("%s: %w", asked, outbound.Reason(err))}
	}
}

// lateAnswer is the failure of a call whose time was over.
func lateAnswer(request *http.Request) *Error {
	return &Error{ClassTimeout, fmt.Errorf("%s %s: no response arrived in time", request.Method, shown(request.URL))}
}

// overdue reports whether the time of a context was over. Its owner may have ended it a
// moment before its own timer did.
func overdue(ctx context.Context) bool {
	deadline, timed := ctx.Deadline()
	return timed && !time.Now().Before(deadline)
}

// shown is as much of a URL as errors may say, which get into logs and traces:
// passwords and tokens are in the user part and in the query.
func shown(target *url.URL) string {
	return (&url.URL{Scheme: target.Scheme, Host: target.Host, Path: target.Path}).String()
}

// hopeless reports whether trying again would not help: the target said so, or
// may not be called.
func hopeless(status int, err error) bool {
	var denied *DeniedError
	switch status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	}
	return status/100 == 4 || errors.As(err, &denied)
}
