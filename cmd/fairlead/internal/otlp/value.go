package otlp

import (
	"math"

	"go.opentelemetry.io/otel/attribute"
	"google.golang.org/protobuf/encoding/protowire"
)

// writeValue writes an AnyValue. It writes exactly one of several fields even if it is
// zero, because its presence determines the type of the value.
func writeValue(b *buffer, value attribute.Value) {
	switch value.Type() {
	case attribute.STRING:
		*b = protowire.AppendString(protowire.AppendTag(*b, 1, protowire.BytesType), value.AsString())
	case attribute.BOOL:
		*b = protowire.AppendVarint(protowire.AppendTag(*b, 2, protowire.VarintType), protowire.EncodeBool(value.AsBool()))
	case attribute.INT64:
		*b = protowire.AppendVarint(protowire.AppendTag(*b, 3, protowire.VarintType), uint64(value.AsInt64()))
	case attribute.FLOAT64:
		*b = protowire.AppendFixed64(protowire.AppendTag(*b, 4, protowire.Fixed64Type), math.Float64bits(value.AsFloat64()))
	case attribute.STRINGSLICE:
		writeList(b, value.AsStringSlice(), attribute.StringValue)
	case attribute.BOOLSLICE:
		writeList(b, value.AsBoolSlice(), attribute.BoolValue)
	case attribute.INT64SLICE:
		writeList(b, value.AsInt64Slice(), attribute.Int64Value)
	case attribute.FLOAT64SLICE:
		writeList(b, value.AsFloat64Slice(), attribute.Float64Value)
	case attribute.SLICE:
		writeList(b, value.AsSlice(), func(value attribute.Value) attribute.Value { return value })
	case attribute.MAP:
		b.message(6, func(b *buffer) { writeAttributes(b, 1, value.AsMap()) })
	case attribute.BYTESLICE:
		*b = protowire.AppendBytes(protowire.AppendTag(*b, 7, protowire.BytesType), value.AsByteSlice())
	}
}

func writeList[T any](b *buffer, list []T, valueOf func(T) attribute.Value) {
	b.message(5, func(b *buffer) {
		for _, element := range list {
			b.message(1, func(b *buffer) { writeValue(b, valueOf(element)) })
		}
	})
}
