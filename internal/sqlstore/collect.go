package sqlstore

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/fairlead-io/fairlead/internal/paged"
)

// Collect returns a function that scans a page's rows into a slice until the page reaches the
// caller's size limit (see package paged).
func Collect[T any](ctx context.Context, into *[]T, scan func(Scanner) (T, error)) func(Scanner) error {
	bound := paged.From(ctx)
	return func(row Scanner) error {
		if len(*into) == 0 { // the first row, possibly of a retry
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

// UnlessFull returns nil if err only reports that the page is full. Otherwise, it returns err.
func UnlessFull(err error) error {
	if errors.Is(err, paged.ErrFull) {
		return nil
	}
	return err
}

// weighedRow counts the bytes of a row's documents and strings.
type weighedRow struct {
	row   Scanner
	bytes int
}

// Scan implements Scanner.
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
