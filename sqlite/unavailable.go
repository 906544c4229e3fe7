package sqlite

import (
	"context"
	"errors"
	"slices"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// passingCodes are SQLite's errors after which the same call may succeed later: once
// other connections have released the file, the disk has room, memory is free, or an
// operator has restored access to the file.
var passingCodes = []int{
	codes.SQLITE_BUSY, codes.SQLITE_LOCKED, codes.SQLITE_PROTOCOL, codes.SQLITE_INTERRUPT,
	codes.SQLITE_READONLY, codes.SQLITE_CANTOPEN, codes.SQLITE_PERM,
	codes.SQLITE_FULL, codes.SQLITE_IOERR, codes.SQLITE_NOMEM,
}

// unavailable wraps the error of a call in fairlead.ErrUnavailable if it passes.
func unavailable(ctx context.Context, err error) error {
	return sqlstore.MarkUnavailable(ctx, err, passes)
}

// passes reports whether the error may be gone when the call is repeated later.
func passes(err error) bool {
	var e *driver.Error
	if errors.As(err, &e) {
		return slices.Contains(passingCodes, e.Code()&0xff)
	}
	return errors.Is(err, errClosed)
}
