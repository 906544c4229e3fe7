package sqlstore

// JSON is an argument in a column of JSON: PostgreSQL and SQLite take it as text, MySQL as
// bytes. Null if it is empty.
type JSON []byte

// List is an argument of many values, null if it is nil: an array on PostgreSQL and JSON on
// SQLite. MySQL has no arrays: it writes the values where the text says {{list}}, and runs
// the statement several times if there are very many, so that such a statement must give
// the same when it is asked for each part.
type List[T int32 | int64 | string] []T

// Rows are an argument of many tuples. PostgreSQL gets one array for each of their
// columns. MySQL writes them where the text says {{rows}}, or for each the text between
// {{rows}} and {{end}} with the values for its question marks; they are few enough for the
// statement to run once, or it runs several times. SQLite runs the statement for each row.
// With no rows the statement does not run.
type Rows struct {
	tuples [][]any
}

// Add adds a tuple. Its values have the same types as those of the other tuples: int64,
// float64, bool, string, bytes or JSON.
func (r *Rows) Add(values ...any) { r.tuples = append(r.tuples, values) }

// Tuples are what was added.
func (r *Rows) Tuples() [][]any { return r.tuples }

// SplitRows takes the rows, if there are any, from the end of a statement's arguments.
func SplitRows(args []any) (scalars []any, rows *Rows) {
	if len(args) > 0 {
		if rows, ok := args[len(args)-1].(*Rows); ok {
			return args[:len(args)-1], rows
		}
	}
	return args, nil
}
