package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Marshal encodes a message as JSON. It omits fields without a value, except for a response's
// list of items, which it encodes as an empty list.
func Marshal(message proto.Message) ([]byte, error) {
	m := message.ProtoReflect()
	return appendMessage(nil, m, planOf(m.Descriptor()))
}

func appendMessage(b []byte, message protoreflect.Message, p *plan) (_ []byte, err error) {
	b = append(b, '{')
	first := true
	for _, f := range p.fields {
		if !message.Has(f.FieldDescriptor) && (!f.IsList() || f.name != "items") {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(append(append(b, '"'), f.name...), '"', ':')
		if b, err = appendField(b, message.Get(f.FieldDescriptor), f); err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return append(b, '}'), nil
}

func appendField(b []byte, value protoreflect.Value, f *field) (_ []byte, err error) {
	switch {
	case f.IsMap():
		return appendMap(b, value.Map())
	case f.IsList():
		b = append(b, '[')
		for i := range value.List().Len() {
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = appendValue(b, value.List().Get(i), f); err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	}
	return appendValue(b, value, f)
}

// appendMap appends a map of strings, sorted by name.
func appendMap(b []byte, texts protoreflect.Map) ([]byte, error) {
	names := make([]string, 0, texts.Len())
	texts.Range(func(key protoreflect.MapKey, _ protoreflect.Value) bool {
		names = append(names, key.String())
		return true
	})
	slices.Sort(names)
	b = append(b, '{')
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendText(b, name), ':')
		b = appendText(b, texts.Get(protoreflect.ValueOfString(name).MapKey()).String())
	}
	return append(b, '}'), nil
}

func appendValue(b []byte, value protoreflect.Value, f *field) ([]byte, error) {
	switch f.Kind() {
	case protoreflect.MessageKind:
		message := value.Message()
		switch wellKnown(message.Descriptor()) {
		case timestamp:
			seconds, nanos := span(message)
			return append(time.Unix(seconds, nanos).UTC().AppendFormat(append(b, '"'), "2006-01-02T15:04:05.000000Z07:00"), '"'), nil
		case duration:
			seconds, nanos := span(message)
			return appendSeconds(b, time.Duration(seconds)*time.Second+time.Duration(nanos)), nil
		}
		return appendMessage(b, message, f.message)
	case protoreflect.StringKind:
		return appendText(b, value.String()), nil
	case protoreflect.BytesKind:
		if f.json {
			return appendDocument(b, value.Bytes())
		}
		return append(base64.StdEncoding.AppendEncode(append(b, '"'), value.Bytes()), '"'), nil
	case protoreflect.BoolKind:
		return strconv.AppendBool(b, value.Bool()), nil
	case protoreflect.Int32Kind:
		return strconv.AppendInt(b, value.Int(), 10), nil
	case protoreflect.Int64Kind:
		return append(strconv.AppendInt(append(b, '"'), value.Int(), 10), '"'), nil
	case protoreflect.DoubleKind:
		raw, err := json.Marshal(value.Float())
		return append(b, raw...), err
	}
	return nil, fmt.Errorf("unsupported field kind %s", f.Kind())
}

func span(message protoreflect.Message) (seconds, nanos int64) {
	fields := message.Descriptor().Fields()
	return message.Get(fields.ByNumber(1)).Int(), message.Get(fields.ByNumber(2)).Int()
}

// appendSeconds appends a duration in seconds, with as many decimals as necessary.
func appendSeconds(b []byte, d time.Duration) []byte {
	b = append(b, '"')
	b = strconv.AppendFloat(b, d.Seconds(), 'f', -1, 64)
	return append(b, 's', '"')
}

// appendDocument appends a document on one line.
func appendDocument(b, document []byte) ([]byte, error) {
	out := bytes.NewBuffer(b)
	err := json.Compact(out, document)
	return out.Bytes(), err
}

const hexDigits = "0123456789abcdef"

// appendText appends a string. It does not escape HTML characters, because responses are
// never served as HTML.
func appendText(b []byte, text string) []byte {
	b = append(b, '"')
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, '\\', 'n')
		case c < ' ':
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}
