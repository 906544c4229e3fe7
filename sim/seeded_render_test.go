package sim

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// unseeded lists fields with random values, or with the order of a map. A trace omits them.
var unseeded = map[string]bool{"Version": true, "Next": true, "Trace": true, "Token": true, "Line": true}

// render formats a value. Two values that a store would treat as equal have the same format:
// empty fields, functions and the order of maps do not count.
func render(v any) string {
	var b strings.Builder
	renderValue(&b, reflect.ValueOf(v))
	return b.String()
}

func renderValue(b *strings.Builder, v reflect.Value) {
	if !v.IsValid() {
		return
	}
	if at, ok := timeOf(v); ok {
		fmt.Fprintf(b, "@%d", at.UnixMicro())
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		renderValue(b, v.Elem())
	case reflect.Struct:
		renderStruct(b, v)
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			b.Write(v.Bytes())
			return
		}
		b.WriteByte('[')
		for i := range v.Len() {
			renderValue(b, v.Index(i))
			b.WriteByte(' ')
		}
		b.WriteByte(']')
	case reflect.Map:
		entries := map[string]string{}
		for _, key := range v.MapKeys() {
			entries[render(key.Interface())] = render(v.MapIndex(key).Interface())
		}
		for _, key := range slices.Sorted(maps.Keys(entries)) {
			b.WriteString(key + "=" + entries[key] + " ")
		}
	case reflect.String:
		first, _, _ := strings.Cut(v.String(), "\n") // the stack of a panic names goroutines
		b.WriteString(first)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		b.WriteString(strconv.FormatInt(v.Int(), 10))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		b.WriteString(strconv.FormatUint(v.Uint(), 10))
	case reflect.Float32, reflect.Float64:
		b.WriteString(strconv.FormatFloat(v.Float(), 'g', -1, 64))
	case reflect.Bool:
		b.WriteString(strconv.FormatBool(v.Bool()))
	}
}

func renderStruct(b *strings.Builder, v reflect.Value) {
	b.WriteByte('{')
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if !field.IsExported() || unseeded[field.Name] || v.Field(i).IsZero() {
			continue
		}
		if !field.Anonymous {
			b.WriteString(field.Name + ":")
		}
		renderValue(b, v.Field(i))
		b.WriteByte(' ')
	}
	b.WriteByte('}')
}

func timeOf(v reflect.Value) (time.Time, bool) {
	if v.Type() != reflect.TypeFor[time.Time]() || !v.CanInterface() {
		return time.Time{}, false
	}
	at, ok := v.Interface().(time.Time)
	return at, ok
}

// shifted returns a copy of a value with all its times moved by d. The zero time stays.
func shifted[T any](value T, d time.Duration) T {
	if d == 0 {
		return value
	}
	copied, ok := moveTimes(reflect.ValueOf(value), d).Interface().(T)
	if !ok {
		return value // a nil interface
	}
	return copied
}

func moveTimes(v reflect.Value, d time.Duration) reflect.Value {
	if !v.IsValid() || !hasTimes(v.Type(), nil) {
		return v
	}
	if at, ok := timeOf(v); ok {
		if at.IsZero() {
			return v
		}
		return reflect.ValueOf(at.Add(d))
	}
	moved := reflect.New(v.Type()).Elem()
	moved.Set(v)
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			moved.Set(reflect.New(v.Type().Elem()))
			moved.Elem().Set(moveTimes(v.Elem(), d))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				moved.Field(i).Set(moveTimes(v.Field(i), d))
			}
		}
	case reflect.Slice:
		if !v.IsNil() {
			moved.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			for i := range v.Len() {
				moved.Index(i).Set(moveTimes(v.Index(i), d))
			}
		}
	}
	return moved
}

// hasTimes reports whether values of a type may contain times that shift finds.
func hasTimes(t reflect.Type, outer []reflect.Type) bool {
	if t == reflect.TypeFor[time.Time]() {
		return true
	}
	if slices.Contains(outer, t) {
		return false
	}
	outer = append(outer, t)
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		return hasTimes(t.Elem(), outer)
	case reflect.Struct:
		for i := range t.NumField() {
			if t.Field(i).IsExported() && hasTimes(t.Field(i).Type, outer) {
				return true
			}
		}
	}
	return false
}
