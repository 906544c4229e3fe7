package wire

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Limits of one request, checked while it is decoded. Without them, a few kilobytes of
// compressed bytes could expand to gigabytes of messages.
const (
	maxDepth    = 64      // levels of nesting in JSON and in messages
	maxList     = 100_000 // entries of a list or map whose rules set no maximum
	maxElements = 250_000 // messages and entries of lists and maps in total
)

// elements counts the elements of a request while it is decoded.
type elements int

// add counts an element. It returns an error if there are too many.
func (e *elements) add() error {
	if *e++; *e > maxElements {
		return wrong("has more than %d elements; send less at once", maxElements)
	}
	return nil
}

// mostEntries returns the maximum number of entries of a list or map.
func (f *field) mostEntries() int {
	if f.IsList() && f.rules != nil && f.rules.Max != nil {
		return int(*f.rules.Max)
	}
	return maxList
}

// checkRoom returns an error if a list or map with n entries is full.
func (f *field) checkRoom(n int) error {
	if most := f.mostEntries(); n >= most {
		return wrong("has more than %d entries; send fewer at once", most)
	}
	return nil
}

// entry counts an entry of a list or map after n others.
func (e *elements) entry(f *field, n int) error {
	if err := f.checkRoom(n); err != nil {
		return err
	}
	return e.add()
}

// UnmarshalBinary decodes a message in protobuf form into an empty message. If data exceeds
// the limits of a request, UnmarshalBinary returns a FieldError before it allocates much
// memory. It drops unknown fields.
func UnmarshalBinary(data []byte, into proto.Message) error {
	var count elements
	if err := count.binary(data, planOf(into.ProtoReflect().Descriptor()), 0); err != nil {
		return err
	}
	if err := (proto.UnmarshalOptions{DiscardUnknown: true, RecursionLimit: maxDepth}).Unmarshal(data, into); err != nil {
		return wrong("is not the protobuf form of %s", into.ProtoReflect().Descriptor().FullName())
	}
	return nil
}

// binary counts the elements of a message in protobuf form.
func (e *elements) binary(data []byte, p *plan, depth int) error {
	if depth > maxDepth {
		return wrong("is nested more than %d levels deep", maxDepth)
	}
	entries := map[protowire.Number]int{} // entries of the message's lists and maps
	for len(data) > 0 {
		number, wireType, n := protowire.ConsumeTag(data)
		if n < 0 {
			return wrong("is not protobuf")
		}
		size := protowire.ConsumeFieldValue(number, wireType, data[n:])
		if size < 0 {
			return wrong("is not protobuf")
		}
		value := data[n : n+size]
		data = data[n+size:]
		f := p.byNumber[number]
		if f == nil {
			continue
		}
		if err := e.binaryField(f, wireType, value, entries, depth); err != nil {
			return inside(f.name, err)
		}
	}
	return nil
}

// binaryField counts the elements of a field's value.
func (e *elements) binaryField(f *field, wireType protowire.Type, value []byte, entries map[protowire.Number]int, depth int) error {
	packed := f.IsList() && wireType == protowire.BytesType && isPackable(f)
	switch {
	case packed:
		content, _ := protowire.ConsumeBytes(value)
		return e.packed(f, content, entries)
	case f.IsList() || f.IsMap():
		if err := e.entry(f, entries[f.Number()]); err != nil {
			return err
		}
		entries[f.Number()]++
	case f.Message() != nil:
		if err := e.add(); err != nil {
			return err
		}
	}
	if wireType != protowire.BytesType {
		return nil
	}
	content, _ := protowire.ConsumeBytes(value)
	switch {
	case f.json:
		return checkDocument(content)
	case f.message != nil:
		return e.binary(content, f.message, depth+1)
	}
	return nil
}

// checkDocument validates a JSON document in the same way as Unmarshal, which reads it as
// part of a request. Empty content means no document.
func checkDocument(content []byte) error {
	if len(content) == 0 {
		return nil
	}
	s := &scanner{data: content}
	if err := firstOf(s.skip, s.end); err != nil {
		return wrong("is not JSON: %v", err)
	}
	return nil
}

// firstOf calls functions until one returns an error.
func firstOf(functions ...func() error) error {
	for _, function := range functions {
		if err := function(); err != nil {
			return err
		}
	}
	return nil
}

// packed counts the numbers in a packed list.
func (e *elements) packed(f *field, content []byte, entries map[protowire.Number]int) error {
	width := 1
	switch f.Kind() {
	case protoreflect.DoubleKind, protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind:
		width = 8
	case protoreflect.FloatKind, protoreflect.Fixed32Kind, protoreflect.Sfixed32Kind:
		width = 4
	}
	for i := range content {
		last := content[i] < 0x80 // last byte of a varint
		if width > 1 {
			last = (i+1)%width == 0
		}
		if !last {
			continue
		}
		if err := e.entry(f, entries[f.Number()]); err != nil {
			return err
		}
		entries[f.Number()]++
	}
	return nil
}

// isPackable reports whether the entries of a list are numbers.
func isPackable(f *field) bool {
	switch f.Kind() {
	case protoreflect.StringKind, protoreflect.BytesKind, protoreflect.MessageKind, protoreflect.GroupKind:
		return false
	}
	return true
}
