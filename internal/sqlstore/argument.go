package sqlstore

// JSON is an argument for a JSON column: PostgreSQL and SQLite take it as text, MySQL as
// bytes. An empty value is stored as null.
type JSON []byte

// List is an argument with many values; a nil List is null. PostgreSQL receives an array,
// and SQLite receives JSON. MySQL has no arrays, so the values replace {{list}} in the
// statement. MySQL runs the statement several times if the list is very long: the union of
// the partial results must equal the result for the whole list.
type List[T int32 | int64 | string] []T

// Rows is an argument with many tuples. PostgreSQL receives one array per column. On MySQL
// the tuples replace {{rows}}; a statement with {{rows}} … {{end}} instead repeats that
// text for each tuple, with the values bound to its question marks. MySQL runs the
// statement several times if one statement cannot hold all tuples. SQLite runs the
// statement once per tuple. Without tuples, the statement does not run.
type Rows struct {
	tuples [][]any
}

// Add adds a tuple. Its values must have the same types as those of the other tuples:
// int64, float64, bool, string, bytes or JSON.
func (r *Rows) Add(values ...any) { r.tuples = append(r.tuples, values) }

// Tuples returns the added tuples.
func (r *Rows) Tuples() [][]any { return r.tuples }

// SplitRows separates a trailing Rows argument, if any, from the other arguments of a
// statement.
func SplitRows(args []any) (scalars []any, rows *Rows) {
	if len(args) > 0 {
		if rows, ok := args[len(args)-1].(*Rows); ok {
			return args[:len(args)-1], rows
		}
	}
	return args, nil
}
