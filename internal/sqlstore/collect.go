package sqlstore

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/fairlead-io/fairlead/internal/paged"
)

// Collect returns what scans the rows of a page into a slice, until the page is as large as
// its caller has room for (see package paged).
func Collect[T any](ctx context.Context, into *[]T, scan func(Scanner) (T, error)) func(Scanner) error {
	bound := paged.From(ctx)
	return func(row Scanner) error {
		if len(*into) == 0 { // the first row, perhaps of another try
			bound.Begin()
		}
		weighed := weighedRow{row: row}
		value, err := scan(&weighed)
		if err != nil {
			return err
		}
		*into = append(*into, value)
		if bound.Add(weighed.bytes) {
			return paged.ErrFull
		}
		return nil
	}
}

// UnlessFull is the error with which a scan has ended a statement, if it is one: that the
// page is full is none.
func UnlessFull(err error) error {
	if errors.Is(err, paged.ErrFull) {
		return nil
	}
	return err
}

// weighedRow counts the bytes of the documents and texts of a row.
type weighedRow struct {
	row   Scanner
	bytes int
}

// Scan is part of Scanner.
func (w *weighedRow) Scan(into ...any) error {
	if err := w.row.Scan(into...); err != nil {
		return err
	}
	for _, value := range into {
		switch value := value.(type) {
		case *[]byte:
			w.bytes += len(*value)
		case *json.RawMessage:
			w.bytes += len(*value)
		case *string:
			w.bytes += len(*value)
		}
	}
	return nil
}
