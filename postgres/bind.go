package postgres

import (
	"fmt"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// bind makes the arguments of a statement what PostgreSQL takes. Rows become one array for
// each of their columns.
func bind(args []any, rows *sqlstore.Rows) []any {
	bound := make([]any, 0, len(args))
	for _, arg := range args {
		bound = append(bound, bindValue(arg))
	}
	if rows == nil {
		return bound
	}
	tuples := rows.Tuples()
	for column := range tuples[0] {
		bound = append(bound, bindColumn(tuples, column))
	}
	return bound
}

func bindValue(arg any) any {
	switch arg := arg.(type) {
	case sqlstore.JSON:
		return jsonText(arg)
	case sqlstore.List[int32]:
		return []int32(arg)
	case sqlstore.List[int64]:
		return []int64(arg)
	case sqlstore.List[string]:
		return []string(arg)
	case sqlstore.Except:
		return []int64(arg)
	}
	return arg
}

// bindColumn is a column of rows as an array. All of its values have the type of the first.
func bindColumn(tuples [][]any, column int) any {
	switch first := tuples[0][column].(type) {
	case int64:
		return columnOf(tuples, column, func(value int64) int64 { return value })
	case float64:
		return columnOf(tuples, column, func(value float64) float64 { return value })
	case bool:
		return columnOf(tuples, column, func(value bool) bool { return value })
	case string:
		return columnOf(tuples, column, func(value string) string { return value })
	case []byte:
		return columnOf(tuples, column, func(value []byte) []byte { return value })
	case sqlstore.JSON:
		return columnOf(tuples, column, func(value sqlstore.JSON) *string { return jsonText(value) })
	default:
		panic(fmt.Sprintf("a %T in rows", first)) // see sqlstore.Rows.Add
	}
}

func columnOf[T, B any](tuples [][]any, column int, bind func(T) B) []B {
	values := make([]B, len(tuples))
	for i, tuple := range tuples {
		values[i] = bind(tuple[column].(T))
	}
	return values
}
