package postgres

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

const strangerRemedy = ": the server does not answer like PostgreSQL: check the host and port in the URL; they may belong to a different service"

const startupRemedy = ": PgBouncer rejects this parameter of the URL: remove it and set it with alter role or alter database instead, or name it in PgBouncer's ignore_startup_parameters"

// nothingWrapped is what the driver prints where it has no cause.
const nothingWrapped = ": %!w(<nil>)"

// connectError is a driver's error with advice.
type connectError struct {
	err    error
	remedy string
}

func (e connectError) Error() string {
	return strings.ReplaceAll(e.err.Error(), nothingWrapped, "") + e.remedy
}

func (e connectError) Unwrap() error { return e.err }

// explainConnect removes from a connection's error what the driver failed to print, and
// adds a remedy if one is known.
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

// fromStranger reports whether the server does not speak PostgreSQL's protocol. The
// driver has no type for this: it got a message that it does not understand, or that is
// not allowed at this time.
func fromStranger(failed *pgconn.ConnectError) bool {
	text := failed.Error()
	if strings.Contains(text, "received unexpected message") {
		return true
	}
	return strings.Contains(text, "failed to receive message") && !brokeOff(failed)
}

// brokeOff reports whether a connection ended or ran out of time.
func brokeOff(err error) bool {
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
