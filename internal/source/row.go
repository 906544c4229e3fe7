package source

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// rowWriter encodes the rows of one query as JSON.
type rowWriter struct {
	names  [][]byte // quoted, with the separator before and the colon after
	isJSON []bool
	key    int
	values []any
	scan   []any
}

func newRowWriter(rows *sql.Rows, key string) (*rowWriter, error) {
	types, err := rows.ColumnTypes()
	if err != nil {
		return nil, err
	}
	w := &rowWriter{key: -1, values: make([]any, len(types)), scan: make([]any, len(types))}
	for i, column := range types {
		if strings.EqualFold(column.Name(), key) {
			w.key = i
		}
		name, err := json.Marshal(column.Name())
		if err != nil {
			return nil, err
		}
		before := byte(',')
		if i == 0 {
			before = '{'
		}
		w.names = append(w.names, slices.Concat([]byte{before}, name, []byte{':'}))
		kind := strings.ToUpper(column.DatabaseTypeName())
		w.isJSON = append(w.isJSON, kind == "JSON" || kind == "JSONB")
		w.scan[i] = &w.values[i]
	}
	if w.key < 0 {
		return nil, fmt.Errorf("column %s does not exist", key)
	}
	return w, nil
}

// item returns the current row as an item.
func (w *rowWriter) item(rows *sql.Rows) (Item, error) {
	if err := rows.Scan(w.scan...); err != nil {
		return Item{}, err
	}
	key, err := integer(w.values[w.key])
	if err != nil {
		return Item{}, err
	}
	var text []byte
	for i, value := range w.values {
		text = append(text, w.names[i]...)
		if text, err = appendJSON(text, value, w.isJSON[i]); err != nil {
			return Item{}, fmt.Errorf("row %d: %w", key, err)
		}
	}
	return Item{Index: key, Data: append(text, '}')}, nil
}

// integer converts a key to an integer. Some drivers return numbers as text.
func integer(value any) (int64, error) {
	switch v := value.(type) {
	case int64:
		return v, nil
	case []byte:
		if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
			return n, nil
		}
	}
	return 0, fmt.Errorf("found key %v of type %T; keys must be integers", value, value)
}

// appendJSON appends a value returned by a driver as JSON. Valid UTF-8 bytes become a
// string, because drivers return text as bytes; other bytes are encoded in base64.
func appendJSON(to []byte, value any, isJSON bool) ([]byte, error) {
	switch v := value.(type) {
	case []byte:
		if isJSON && json.Valid(v) {
			compact := bytes.NewBuffer(to)
			err := json.Compact(compact, v)
			return compact.Bytes(), err
		}
		if utf8.Valid(v) {
			value = string(v)
		}
	case string:
		if isJSON && json.Valid([]byte(v)) {
			return appendJSON(to, []byte(v), true)
		}
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			value = strconv.FormatFloat(v, 'g', -1, 64)
		}
	case time.Time:
		value = v.Format(time.RFC3339Nano)
	}
	text, err := json.Marshal(value)
	return append(to, text...), err
}
