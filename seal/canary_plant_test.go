package seal_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"
)

// canaryOf returns a canary whose text names the place where a caller has put it.
func canaryOf(path string) string { return "canary-" + strings.ToLower(path) }

// documentOf returns a document with a canary.
func documentOf(path string) json.RawMessage {
	return json.RawMessage(`{"secret":"` + canaryOf(path) + `"}`)
}

// plant puts a canary into every field of a struct that is a string, a document, a list of
// strings or a map of them, unless the field has a value or is excluded. So it also finds
// fields that are added later. It ignores named string types, because they are
// enumerations.
func plant[T any](path string, value T, without ...string) T {
	plantIn(path, reflect.ValueOf(&value).Elem(), without)
	return value
}

func plantIn(path string, value reflect.Value, without []string) {
	if slices.Contains(without, strings.ToLower(path)) {
		return
	}
	switch {
	case value.Type() == reflect.TypeFor[time.Time]():
	case value.Kind() == reflect.Struct:
		for i := range value.NumField() {
			field := value.Type().Field(i)
			switch {
			case field.Anonymous:
				plantIn(path, value.Field(i), without)
			case field.IsExported():
				plantIn(path+"-"+strings.ToLower(field.Name), value.Field(i), without)
			}
		}
	case value.Kind() == reflect.Pointer && !value.IsNil():
		plantIn(path, value.Elem(), without)
	case value.Kind() == reflect.Slice && value.Type().Elem().Kind() == reflect.Struct:
		for i := range value.Len() {
			plantIn(path, value.Index(i), without)
		}
	case !value.IsZero():
	case value.Type() == reflect.TypeFor[string]():
		value.SetString(canaryOf(path))
	case value.Type() == reflect.TypeFor[json.RawMessage]():
		value.SetBytes(documentOf(path))
	case value.Type() == reflect.TypeFor[[]string]():
		value.Set(reflect.ValueOf([]string{canaryOf(path)}))
	case value.Type() == reflect.TypeFor[map[string]string]():
		value.Set(reflect.ValueOf(map[string]string{canaryOf(path + "-name"): canaryOf(path + "-value")}))
	}
}
