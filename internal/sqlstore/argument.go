package sqlstore

// JSON is an argument for a JSON column. PostgreSQL and SQLite receive it as text, MySQL as
// bytes. An empty value is stored as null.
type JSON []byte

// List is a list of values passed as one argument. A nil List is null. PostgreSQL receives an
// array, and SQLite receives JSON. MySQL has no arrays, so the values replace {{list}} in the
// statement. If the list is very long, MySQL runs the statement several times. The union of
// the partial results must therefore equal the result for the whole list.
type List[T int32 | int64 | string] []T

// Except is a list of IDs that a statement leaves out. PostgreSQL receives an array and SQLite
// JSON. On MySQL, the IDs replace {{except}} in the statement, which, unlike with a List, is
// never split. Without IDs, 0 replaces it.
type Except []int64

// Rows is a list of tuples passed as one argument. PostgreSQL receives one array per column.
// On MySQL, the tuples replace {{rows}}. If the statement contains {{rows}} … {{end}} instead,
// MySQL repeats the text in between for each tuple and binds the tuple's values to its
// question marks. MySQL runs the statement several times if one statement cannot hold all
// tuples. SQLite runs the statement once per tuple. Without tuples, the statement does not
// run.
type Rows struct {
	tuples [][]any
}

// Add adds a tuple. Each value must have the same type as the corresponding value of the other
// tuples: int64, float64, bool, string, bytes or JSON.
func (r *Rows) Add(values ...any) { r.tuples = append(r.tuples, values) }

// Tuples returns all tuples added so far.
func (r *Rows) Tuples() [][]any { return r.tuples }

// SplitRows separates a statement's last argument from its other arguments if the last
// argument is a Rows. Otherwise, rows is nil.
func SplitRows(args []any) (scalars []any, rows *Rows) {
	if len(args) > 0 {
		if rows, ok := args[len(args)-1].(*Rows); ok {
			return args[:len(args)-1], rows
		}
	}
	return args, nil
}
