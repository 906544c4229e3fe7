// Package ensure compares what is stored with what a program declares, field by field.
package ensure

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
)

// Owned lists the fields that a declaration sets: those that are not zero, the fields of
// structs within one by one. It leaves out some fields of the outer struct or, as
// "Job.ID", of one within, and fields that are not exported.
func Owned(declared any, without ...string) []string {
	return owned(reflect.ValueOf(declared), "", without)
}

func owned(declared reflect.Value, prefix string, without []string) (paths []string) {
	for i := range declared.NumField() {
		field, value := declared.Type().Field(i), declared.Field(i)
		path := prefix + field.Name
		switch {
		case !field.IsExported() || slices.Contains(without, path) || value.IsZero():
		case value.Kind() == reflect.Struct && value.Type() != reflect.TypeFor[time.Time]():
			paths = append(paths, owned(value, path+".", without)...)
		default:
			paths = append(paths, path)
		}
	}
	return paths
}

// Copy sets fields of a struct to those of another.
func Copy[T any](into *T, from *T, paths []string) {
	for _, path := range paths {
		at(into, path).Set(at(from, path))
	}
}

// Differences tells in which fields two structs differ.
func Differences[T any](was, is *T, paths []string) (found []fairlead.Difference) {
	for _, path := range paths {
		if before, after := at(was, path), at(is, path); !equal(before, after) {
			found = append(found, fairlead.Difference{Field: fieldName(path), Was: show(before), Is: show(after)})
		}
	}
	return found
}

// at is a field of a struct within a struct.
func at(in any, path string) reflect.Value {
	value := reflect.ValueOf(in).Elem()
	for name := range strings.SplitSeq(path, ".") {
		value = value.FieldByName(name)
	}
	return value
}

// equal reports whether two values mean the same: instants may be in other zones, and
// documents have other blanks, than when they were stored.
func equal(a, b reflect.Value) bool {
	switch x := a.Interface().(type) {
	case time.Time:
		return x.Truncate(time.Microsecond).Equal(b.Interface().(time.Time).Truncate(time.Microsecond))
	case json.RawMessage:
		return bytes.Equal(compact(x), compact(b.Interface().(json.RawMessage)))
	}
	return reflect.DeepEqual(a.Interface(), b.Interface())
}

func compact(document json.RawMessage) []byte {
	var out bytes.Buffer
	if json.Compact(&out, document) != nil {
		return document
	}
	return out.Bytes()
}

// show is a value for people.
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

// fieldName is a path as errors name fields: "Job.MaxAttempts" is "job.max_attempts".
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

// Actor is who the audit log names for what a program has ensured.
const Actor = "ensure"

// Record notes in the audit log what was created or brought back, if the store has one.
func Record(ctx context.Context, store any, entry access.Entry, differences []fairlead.Difference) error {
	log, kept := store.(access.Auditor)
	if !kept {
		return nil
	}
	entry.Actor, entry.Role = Actor, access.RoleOperator
	if len(differences) > 0 {
		was, is := map[string]string{}, map[string]string{}
		for _, d := range differences {
			was[d.Field], is[d.Field] = d.Was, d.Is
		}
		var err error
		if entry.Before, err = json.Marshal(was); err != nil {
			return err
		}
		if entry.After, err = json.Marshal(is); err != nil {
			return err
		}
	}
	return log.Audit(ctx, []access.Entry{entry})
}
