package postgres

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// passingCodes are the server's errors, by SQLSTATE, after which the same call may
// succeed later.
var passingCodes = []string{
	"25006", // read_only_sql_transaction: a standby, or default_transaction_read_only
	"25P03", // idle_in_transaction_session_timeout
	"40001", // serialization_failure
	"40003", // statement_completion_unknown
	"40P01", // deadlock_detected
	"55P03", // lock_not_available
	"57014", // query_canceled: statement_timeout, or an administrator
	"57P01", // admin_shutdown
	"57P02", // crash_shutdown
	"57P03", // cannot_connect_now: it starts or stops
	"57P05", // idle_session_timeout
}

// passingClasses are the classes whose errors all pass: connections, resources (disk,
// memory, connections), and the system around the server.
var passingClasses = []string{"08", "53", "58"}

// unavailable wraps the error of a call in fairlead.ErrUnavailable if it passes.
func unavailable(ctx context.Context, err error) error {
	return sqlstore.MarkUnavailable(ctx, unkeepable(err), passes)
}

// unkeepable turns the error about a text that PostgreSQL cannot store, and so cannot
// search for, into an invalid one. The other stores find nothing by such a text.
func unkeepable(err error) error {
	const characterNotInRepertoire = "22021"
	var refusal *pgconn.PgError
	if errors.Is(err, fairlead.ErrInvalid) || !errors.As(err, &refusal) || refusal.Code != characterNotInRepertoire {
		return err
	}
	return unkeepableError{&fairlead.InvalidError{Fields: []fairlead.FieldError{{Field: "text", Message: "contains a NUL character or is not valid UTF-8"}}}, err}
}

// unkeepableError names what is wrong with a text and keeps the server's error.
type unkeepableError struct {
	*fairlead.InvalidError
	cause error
}

// Unwrap returns both.
func (e unkeepableError) Unwrap() []error { return []error{e.InvalidError, e.cause} }

// readOnly reports whether the error means that the server, or the user, may only read.
func readOnly(err error) bool {
	const readOnlyTransaction, insufficientPrivilege = "25006", "42501"
	var refusal *pgconn.PgError
	return errors.As(err, &refusal) && (refusal.Code == readOnlyTransaction || refusal.Code == insufficientPrivilege)
}

// passes reports whether the error may be gone when the call is repeated later.
func passes(err error) bool {
	var refusal *pgconn.PgError
	if errors.As(err, &refusal) {
		return slices.Contains(passingCodes, refusal.Code) || len(refusal.Code) == 5 && slices.Contains(passingClasses, refusal.Code[:2])
	}
	return pgconn.SafeToRetry(err)
}
