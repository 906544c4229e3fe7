package postgres

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// passingCodes are the errors of the server after which the same call may work
// later, by their SQLSTATE.
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

// passingClasses are those of which all pass: connections, resources (disk,
// memory, connections), and the system around the server.
var passingClasses = []string{"08", "53", "58"}

// unavailable marks an error of a call if it passes; see fairlead.ErrUnavailable.
func unavailable(ctx context.Context, err error) error {
	return sqlstore.MarkUnavailable(ctx, unkeepable(err), passes)
}

// unkeepable makes a text that PostgreSQL cannot keep, and so cannot look for, invalid:
// the other stores find nothing by it.
func unkeepable(err error) error {
	const characterNotInRepertoire = "22021"
	var refusal *pgconn.PgError
	if errors.Is(err, fairlead.ErrInvalid) || !errors.As(err, &refusal) || refusal.Code != characterNotInRepertoire {
		return err
	}
	return unkeepableError{&fairlead.InvalidError{Fields: []fairlead.FieldError{{Field: "text", Message: "contains a NUL character or is not valid UTF-8"}}}, err}
}

// unkeepableError says what is wrong with a text, and keeps what the server said.
type unkeepableError struct {
	*fairlead.InvalidError
	cause error
}

// Unwrap returns both.
func (e unkeepableError) Unwrap() []error { return []error{e.InvalidError, e.cause} }

// readOnly reports whether an error says that the server, or the user, may only read.
func readOnly(err error) bool {
	const readOnlyTransaction, insufficientPrivilege = "25006", "42501"
	var refusal *pgconn.PgError
	return errors.As(err, &refusal) && (refusal.Code == readOnlyTransaction || refusal.Code == insufficientPrivilege)
}

// passes reports whether an error may be gone when the call is repeated later.
func passes(err error) bool {
	var refusal *pgconn.PgError
	if errors.As(err, &refusal) {
		return slices.Contains(passingCodes, refusal.Code) || len(refusal.Code) == 5 && slices.Contains(passingClasses, refusal.Code[:2])
	}
	return pgconn.SafeToRetry(err)
}
