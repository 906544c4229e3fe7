package otlp

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// buffer is a protobuf message being written. As in proto3, fields with zero values are
// omitted.
type buffer []byte

func (b *buffer) text(field protowire.Number, value string) {
	if value != "" {
		*b = protowire.AppendString(protowire.AppendTag(*b, field, protowire.BytesType), value)
	}
}

func (b *buffer) bytes(field protowire.Number, value []byte) {
	if len(value) > 0 {
		*b = protowire.AppendBytes(protowire.AppendTag(*b, field, protowire.BytesType), value)
	}
}

func (b *buffer) number(field protowire.Number, value uint64) {
	if value != 0 {
		*b = protowire.AppendVarint(protowire.AppendTag(*b, field, protowire.VarintType), value)
	}
}

// count writes a number of dropped elements.
func (b *buffer) count(field protowire.Number, value int) {
	b.number(field, uint64(min(max(value, 0), math.MaxUint32)))
}

func (b *buffer) fixed32(field protowire.Number, value uint32) {
	if value != 0 {
		*b = protowire.AppendFixed32(protowire.AppendTag(*b, field, protowire.Fixed32Type), value)
	}
}

func (b *buffer) fixed64(field protowire.Number, value uint64) {
	if value != 0 {
		*b = protowire.AppendFixed64(protowire.AppendTag(*b, field, protowire.Fixed64Type), value)
	}
}

// message writes a nested message, even if it is empty.
func (b *buffer) message(field protowire.Number, write func(*buffer)) {
	var inner buffer
	write(&inner)
	*b = protowire.AppendBytes(protowire.AppendTag(*b, field, protowire.BytesType), inner)
}
