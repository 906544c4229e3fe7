// Package ensure compares stored objects with the declarations of a program, field by
// field.
package ensure

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Difference is the caller's type for a field whose stored value differed from its declared
// value.
type Difference interface {
	~struct {
		Field string
		Was   string
		Is    string
	}
}

// Retry calls f again while f returns one of the errors in overtaken. These errors mean that
// a concurrent change came first. After ten calls, Retry gives up and returns the last
// error.
func Retry[E any](f func() (E, error), overtaken ...error) (E, error) {
	const tries = 10
	for try := 1; ; try++ {
		ensured, err := f()
		if try == tries || !slices.ContainsFunc(overtaken, func(other error) bool { return errors.Is(err, other) }) {
			return ensured, err
		}
	}
}

// Owned returns the paths of the fields that a declaration sets: those that are neither zero
// nor an empty list or map. It lists the fields of nested structs individually. It omits
// unexported fields and the paths in without, such as "Job.ID".
func Owned(declared any, without ...string) []string {
	return owned(reflect.ValueOf(declared), "", without)
}

func owned(declared reflect.Value, prefix string, without []string) (paths []string) {
	for i := range declared.NumField() {
		field, value := declared.Type().Field(i), declared.Field(i)
		path := prefix + field.Name
		switch {
		case !field.IsExported() || slices.Contains(without, path) || empty(value):
		case value.Kind() == reflect.Struct && value.Type() != reflect.TypeFor[time.Time]():
			paths = append(paths, owned(value, path+".", without)...)
		default:
			paths = append(paths, path)
		}
	}
	return paths
}

func empty(value reflect.Value) bool {
	switch value.Kind() {
	case reflect.Slice, reflect.Map:
		return value.Len() == 0
	}
	return value.IsZero()
}

// Copy copies the fields at the given paths from one struct to another.
func Copy[T any](into *T, from *T, paths []string) {
	for _, path := range paths {
		at(into, path).Set(at(from, path))
	}
}

// Differences returns the fields at the given paths in which two structs differ.
func Differences[D Difference, T any](was, is *T, paths []string) (found []D) {
	for _, path := range paths {
		if before, after := at(was, path), at(is, path); !equal(before, after) {
			found = append(found, D{Field: fieldName(path), Was: show(before), Is: show(after)})
		}
	}
	return found
}

// at returns a field of a possibly nested struct.
func at(in any, path string) reflect.Value {
	value := reflect.ValueOf(in).Elem()
	for name := range strings.SplitSeq(path, ".") {
		value = value.FieldByName(name)
	}
	return value
}

// equal reports whether two values mean the same: stored instants may have another zone,
// and stored documents other whitespace.
func equal(a, b reflect.Value) bool {
	switch x := a.Interface().(type) {
	case time.Time:
		return x.Truncate(time.Microsecond).Equal(b.Interface().(time.Time).Truncate(time.Microsecond))
	case json.RawMessage:
		return bytes.Equal(compact(x), compact(b.Interface().(json.RawMessage)))
	}
	return empty(a) && empty(b) || reflect.DeepEqual(a.Interface(), b.Interface())
}

func compact(document json.RawMessage) []byte {
	var out bytes.Buffer
	if json.Compact(&out, document) != nil {
		return document
	}
	return out.Bytes()
}

// show formats a value for people.
func show(value reflect.Value) string {
	switch x := value.Interface().(type) {
	case json.RawMessage:
		return string(compact(x))
	case fmt.Stringer:
		return x.String()
	}
	text, err := json.Marshal(value.Interface())
	if err != nil {
		return fmt.Sprint(value.Interface())
	}
	return string(text)
}

// fieldName converts a path to the form used in errors: "Job.MaxAttempts" is
// "job.max_attempts".
func fieldName(path string) string {
	var name strings.Builder
	last := '.'
	for _, r := range path {
		if unicode.IsUpper(r) && last != '.' && !unicode.IsUpper(last) {
			name.WriteByte('_')
		}
		name.WriteRune(unicode.ToLower(r))
		last = r
	}
	return name.String()
}
