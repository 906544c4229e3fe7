package sqlite

import (
	"context"
	"errors"
	"slices"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// passingCodes are the errors of SQLite after which the same call may work later:
// once others have let go of the file, the disk has room or memory is free, or an
// operator has given the file back.
var passingCodes = []int{
	codes.SQLITE_BUSY, codes.SQLITE_LOCKED, codes.SQLITE_PROTOCOL, codes.SQLITE_INTERRUPT,
	codes.SQLITE_READONLY, codes.SQLITE_CANTOPEN, codes.SQLITE_PERM,
	codes.SQLITE_FULL, codes.SQLITE_IOERR, codes.SQLITE_NOMEM,
}

// unavailable marks an error of a call if it passes; see fairlead.ErrUnavailable.
func unavailable(ctx context.Context, err error) error {
	return sqlstore.MarkUnavailable(ctx, err, passes)
}

// passes reports whether an error may be gone when the call is repeated later.
func passes(err error) bool {
	var e *driver.Error
	if errors.As(err, &e) {
		return slices.Contains(passingCodes, e.Code()&0xff)
	}
	return errors.Is(err, errClosed)
}
