package sqlstore

// longerRow is a row with additional columns that its reader does not know.
type longerRow struct {
	Scanner
	rest []any
}

// LongerRow returns a row that scans its last columns into rest. The reader scans the other
// columns.
func LongerRow(row Scanner, rest ...any) Scanner { return longerRow{row, rest} }

// Scan reads the requested columns and the additional ones.
func (r longerRow) Scan(into ...any) error { return r.Scanner.Scan(append(into, r.rest...)...) }
