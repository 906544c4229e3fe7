package mysql

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// bind makes the arguments of a statement what MySQL takes. Many values, and rows, become
// part of the text: of several texts if there are very many.
//
// A statement may number its arguments, ?1, ?2, to use one more than once.
func bind(args []any, statement string) (scalars []any, texts []string) {
	args, rows := sqlstore.SplitRows(args)
	statement, args = unnumber(statement, args)
	texts = []string{statement}
	if rows != nil {
		texts = rowTexts(statement, rows)
	}
	for _, arg := range args {
		switch arg := arg.(type) {
		case sqlstore.JSON:
			scalars = append(scalars, []byte(arg))
		case sqlstore.List[int32]:
			texts = listTexts(statement, arg, decimal[int32])
		case sqlstore.List[int64]:
			texts = listTexts(statement, arg, decimal[int64])
		case sqlstore.List[string]:
			texts = listTexts(statement, arg, literal)
		case sqlstore.Except:
			texts = []string{fill(statement, "except", cmp.Or(idList(arg), "0"))}
		default:
			scalars = append(scalars, arg)
		}
	}
	return scalars, texts
}

var numberedArgument = regexp.MustCompile(`\?(\d+)`)

// unnumber puts the arguments of a statement that numbers them into the order of its text.
// Those that are not numbered are lists, which stand in the text themselves.
func unnumber(statement string, args []any) (string, []any) {
	numbers := numberedArgument.FindAllStringSubmatch(statement, -1)
	if numbers == nil {
		return statement, args
	}
	named := make([]bool, len(args))
	var ordered []any
	for _, number := range numbers {
		n, err := strconv.Atoi(number[1])
		if err != nil || n < 1 || n > len(args) {
			panic(fmt.Sprintf("argument %s of %d: %s", number[0], len(args), statement))
		}
		named[n-1] = true
		ordered = append(ordered, args[n-1])
	}
	for i, arg := range args {
		if !named[i] {
			ordered = append(ordered, arg)
		}
	}
	return numberedArgument.ReplaceAllString(statement, "?"), ordered
}

// listTexts are the statement with the values of a list in it, so many at once that the
// optimizer plans them as ranges of an index.
func listTexts[T int32 | int64 | string](statement string, list sqlstore.List[T], write func(T) string) (texts []string) {
	if len(list) == 0 {
		return []string{fill(statement, "list", "null")}
	}
	for chunk := range slices.Chunk(list, chunkIDs) {
		values := make([]string, len(chunk))
		for i, value := range chunk {
			values[i] = write(value)
		}
		texts = append(texts, fill(statement, "list", strings.Join(values, ",")))
	}
	return texts
}

const (
	rowsSlot = "{{rows}}"
	endSlot  = "{{end}}"
	// jsonRows are rows as JSON arrays, for json_table. Texts are hexadecimal there.
	jsonRows = "{{json_rows}}"
)

// rowTexts are the statement with rows in it, as many at once as a packet takes.
func rowTexts(statement string, rows *sqlstore.Rows) (texts []string) {
	write := writeJSON
	head, tail, json := strings.Cut(statement, jsonRows)
	if !json {
		head, tail, _ = strings.Cut(statement, rowsSlot)
		form, rest, formed := strings.Cut(tail, endSlot)
		if formed {
			tail = rest
		} else {
			form = ""
		}
		write = func(to *strings.Builder, tuple []any) { writeTuple(to, form, tuple) }
	}
	var chunk strings.Builder
	flush := func() {
		if chunk.Len() > 0 {
			texts = append(texts, head+chunk.String()+tail)
		}
		chunk.Reset()
	}
	for _, tuple := range rows.Tuples() {
		if chunk.Len() >= chunkBytes {
			flush()
		}
		if chunk.Len() > 0 {
			chunk.WriteByte(',')
		}
		write(&chunk, tuple)
	}
	flush()
	return texts
}

// writeTuple writes a tuple: its values in brackets, or a form with as many of its values as
// it has question marks.
func writeTuple(to *strings.Builder, form string, tuple []any) {
	if form == "" {
		form = "(?" + strings.Repeat(",?", len(tuple)-1) + ")"
	}
	for _, value := range tuple {
		before, after, more := strings.Cut(form, "?")
		if !more {
			break
		}
		to.WriteString(before)
		to.WriteString(valueText(value))
		form = after
	}
	to.WriteString(form)
}

// writeJSON writes a tuple as a JSON array.
func writeJSON(to *strings.Builder, tuple []any) {
	array := tuples{json: true}
	array.add()
	for _, value := range tuple {
		switch value := value.(type) {
		case int64:
			array.int(value)
		case bool:
			array.bool(value)
		case string:
			array.blob([]byte(value))
		default:
			panic(fmt.Sprintf("a %T in JSON rows", value)) // see sqlstore.Rows.Add
		}
	}
	array.end()
	to.Write(array.text)
}

// valueText is a value as it stands in a statement, the same in every session; see rows.
func valueText(value any) string {
	switch value := value.(type) {
	case int64:
		return decimal(value)
	case float64:
		return strconv.FormatFloat(value, 'g', -1, 64)
	case bool:
		return strconv.FormatBool(value)
	case string:
		return literal(value)
	case sqlstore.JSON:
		return bytesText(value)
	case []byte:
		return bytesText(value)
	}
	panic(fmt.Sprintf("a %T in rows", value)) // see sqlstore.Rows.Add
}

// bytesText is bytes in a statement; none are null.
func bytesText(value []byte) string {
	if len(value) == 0 {
		return "null"
	}
	return "x'" + hex.EncodeToString(value) + "'"
}
