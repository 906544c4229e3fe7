package postgres

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

const strangerRemedy = ": the server does not answer like PostgreSQL: check host and port of the URL, they may be those of another server"

const startupRemedy = ": PgBouncer refuses this parameter of the URL: leave it out and set it with alter role or alter database instead, or name it in PgBouncer's ignore_startup_parameters"

// nothingWrapped is what the driver prints where it has no cause to tell.
const nothingWrapped = ": %!w(<nil>)"

// connectError is an error of the driver in words that help.
type connectError struct {
	err    error
	remedy string
}

func (e connectError) Error() string {
	return strings.ReplaceAll(e.err.Error(), nothingWrapped, "") + e.remedy
}

func (e connectError) Unwrap() error { return e.err }

// explainConnect leaves out of a connection's error what the driver failed to
// print, and adds what can be done about it, if that is known.
func explainConnect(err error) error {
	var failed *pgconn.ConnectError
	if !errors.As(err, &failed) {
		return err
	}
	if fromStranger(failed) {
		return connectError{err, strangerRemedy}
	}
	var refusal *pgconn.PgError
	if errors.As(err, &refusal) && strings.HasPrefix(refusal.Message, "unsupported startup parameter") {
		return connectError{err, startupRemedy}
	}
	return connectError{err: err}
}

// fromStranger says whether a server does not speak PostgreSQL's protocol. The
// driver has no type for that: it got a message, but none that it understands, or
// none that comes at this time.
func fromStranger(failed *pgconn.ConnectError) bool {
	text := failed.Error()
	if strings.Contains(text, "received unexpected message") {
		return true
	}
	return strings.Contains(text, "failed to receive message") && !brokeOff(failed)
}

// brokeOff says whether a connection ended or ran out of time.
func brokeOff(err error) bool {
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
