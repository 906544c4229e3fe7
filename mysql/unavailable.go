package mysql

import (
	"context"
	"errors"

	"github.com/go-sql-driver/mysql"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// passingNumbers are the server's errors after which the same call may succeed later.
var passingNumbers = map[uint16]bool{
	1290: true, // the server runs with --read-only
	1792: true, // the transaction is read-only
	1836: true, // the server is in read-only mode
	1036: true, // the table is read-only: innodb_read_only
	1040: true, // too many connections
	1203: true, // too many connections of this user
	1226: true, // the user has used up a resource
	1129: true, // the host is blocked for its errors
	1135: true, // no thread can be made
	1037: true, // out of memory
	1038: true, // out of memory for sorting
	1041: true, // out of memory
	1021: true, // the disk is full
	1114: true, // the table is full: so is the disk
	1026: true, // a file cannot be written
	1030: true, // the storage engine failed
	1180: true, // the commit failed
	1047: true, // Galera: the member is not ready
	1053: true, // shutting down
	1077: true, // shutting down
	1079: true, // shut down
	1152: true, // the connection was aborted
	1158: true, // the connection could not be read
	1159: true, // the connection was silent for too long
	1160: true, // the connection could not be written
	1161: true, // writing to the connection took too long
	1184: true, // the connection was aborted
	1927: true, // MariaDB: the connection was killed
	3032: true, // MySQL: the server is in offline mode
	3168: true, // MySQL: the server is not available
	4031: true, // MySQL: the connection was idle for too long
	1317: true, // the statement was interrupted
	1969: true, // MariaDB: max_statement_time
	3024: true, // MySQL: max_execution_time
	1205: true, // lock wait timeout
	1213: true, // deadlock
	1020: true, // MariaDB: the row is newer than the snapshot
}

// readOnly reports whether the error comes from a server, or a transaction, that only
// reads.
func readOnly(err error) bool {
	var answer *mysql.MySQLError
	return errors.As(err, &answer) && (answer.Number == 1290 || answer.Number == 1792 || answer.Number == 1836)
}

// unavailable wraps the error of a call in fairlead.ErrUnavailable if it passes.
func unavailable(ctx context.Context, err error) error {
	return sqlstore.MarkUnavailable(ctx, err, passes)
}

// passes reports whether the error may be gone when the call is repeated later.
func passes(err error) bool {
	var answer *mysql.MySQLError
	if errors.As(err, &answer) {
		return passingNumbers[answer.Number]
	}
	return errors.Is(err, mysql.ErrInvalidConn) || isRetry(err)
}
