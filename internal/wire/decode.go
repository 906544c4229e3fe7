package wire

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// FieldError reports an invalid value of a field.
type FieldError struct {
	Field   string // path of the field; empty for the document itself
	Message string
}

func (e *FieldError) Error() string {
	if e.Field == "" {
		return e.Message
	}
	return e.Field + ": " + e.Message
}

// Unmarshal decodes a JSON document into an empty message. It returns FieldErrors if the
// document is invalid. The message does not retain references to data.
func Unmarshal(data []byte, into proto.Message) error {
	s := &scanner{data: data}
	message := into.ProtoReflect()
	err := s.message(message, planOf(message.Descriptor()))
	if err == nil {
		err = s.end()
	}
	var syntax *syntaxError
	if errors.As(err, &syntax) {
		return &FieldError{Message: "is not JSON: " + syntax.Error()}
	}
	return err
}

// wrong returns the error of a value that is invalid for its field.
func wrong(format string, args ...any) error {
	return &FieldError{Message: fmt.Sprintf(format, args...)}
}

// inside prepends a name to the path of a FieldError.
func inside(name string, err error) error {
	var refusal *FieldError
	if !errors.As(err, &refusal) {
		return err
	}
	switch {
	case refusal.Field == "":
		refusal.Field = name
	case refusal.Field[0] == '[':
		refusal.Field = name + refusal.Field
	default:
		refusal.Field = name + "." + refusal.Field
	}
	return err
}

func (s *scanner) message(message protoreflect.Message, p *plan) error {
	if s.peek() != '{' {
		return s.mismatch("an object")
	}
	var seen uint64
	return s.object(func(name string) error {
		f := p.byName[name]
		if f == nil {
			return inside(name, wrong("is not a known field"))
		}
		if seen&f.bit != 0 {
			return inside(name, wrong("appears twice"))
		}
		seen |= f.bit
		if s.word("null") {
			if p.nulls != nil && f.FieldDescriptor != p.nulls {
				message.Mutable(p.nulls).List().Append(protoreflect.ValueOfString(name))
			}
			if f.IsList() {
				return inside(name, enough(f, 0))
			}
			return nil // treated as absent
		}
		return inside(name, s.field(message, f))
	})
}

// mismatch returns the error of a value of the wrong type.
func (s *scanner) mismatch(wanted string) error {
	found := map[byte]string{'{': "an object", '[': "a list", '"': "a string", 't': "true", 'f': "false", 'n': "null"}[s.peek()]
	if err := s.skip(); err != nil {
		return err
	}
	if found == "" {
		found = "a number"
	}
	return wrong("is %s; it must be %s", found, wanted)
}

func (s *scanner) field(message protoreflect.Message, f *field) error {
	switch {
	case f.IsMap():
		return s.mapping(message.Mutable(f.FieldDescriptor).Map(), f)
	case f.IsList():
		if s.peek() != '[' {
			return s.mismatch("a list")
		}
		if err := s.checkEntries(f); err != nil {
			return err
		}
		list := message.Mutable(f.FieldDescriptor).List()
		err := s.array(func(i int) error {
			if err := s.count.entry(f, i); err != nil {
				return err
			}
			value, err := s.value(f, list.NewElement)
			if err == nil {
				list.Append(value)
			}
			return inside("["+strconv.Itoa(i)+"]", err)
		})
		if err == nil {
			err = enough(f, list.Len())
		}
		return err
	}
	if f.Message() != nil {
		if err := s.count.add(); err != nil {
			return err
		}
	}
	value, err := s.value(f, func() protoreflect.Value { return message.NewField(f.FieldDescriptor) })
	if err == nil {
		message.Set(f.FieldDescriptor, value)
	}
	return err
}

// checkEntries rejects a list of messages with too many entries before any of them is
// allocated. It leaves other errors to the caller.
func (s *scanner) checkEntries(f *field) error {
	most := f.mostEntries()
	if f.message == nil || bytes.Count(s.data[s.at:], []byte("{")) <= most {
		return nil
	}
	ahead := *s
	var refusal error
	_ = ahead.array(func(i int) error {
		if refusal = f.checkRoom(i); refusal != nil {
			return refusal
		}
		return ahead.skip()
	})
	return refusal
}

// enough rejects a list that is present but too short. Where an absent list stands for all,
// an empty list is a mistake.
func enough(f *field, entries int) error {
	if least := f.rules.GetMin(); int64(entries) < least {
		return wrong("has %d entries; specify at least %d, or omit the field, which has a different meaning", entries, least)
	}
	return nil
}

// mapping decodes an object with names chosen by the caller.
func (s *scanner) mapping(into protoreflect.Map, f *field) error {
	if s.peek() != '{' {
		return s.mismatch("an object")
	}
	value := &field{FieldDescriptor: f.MapValue(), name: f.name}
	return s.object(func(name string) error {
		if err := s.count.entry(f, into.Len()); err != nil {
			return err
		}
		key := protoreflect.ValueOfString(name).MapKey()
		if into.Has(key) {
			return inside(name, wrong("appears twice"))
		}
		v, err := s.value(value, into.NewValue)
		if err == nil {
			into.Set(key, v)
		}
		return inside(name, err)
	})
}

// value decodes one value of a field.
func (s *scanner) value(f *field, empty func() protoreflect.Value) (protoreflect.Value, error) {
	switch f.Kind() {
	case protoreflect.MessageKind:
		v := empty()
		return v, s.messageValue(v.Message(), f)
	case protoreflect.StringKind:
		text, err := s.textValue("a string")
		return protoreflect.ValueOfString(text), err
	case protoreflect.BytesKind:
		raw, err := s.bytesValue(f)
		return protoreflect.ValueOfBytes(raw), err
	case protoreflect.BoolKind:
		switch {
		case s.word("true"):
			return protoreflect.ValueOfBool(true), nil
		case s.word("false"):
			return protoreflect.ValueOfBool(false), nil
		}
		return protoreflect.Value{}, s.mismatch("true or false")
	case protoreflect.Int32Kind:
		n, err := s.integer(math.MinInt32, math.MaxInt32)
		return protoreflect.ValueOfInt32(int32(n)), err
	case protoreflect.Int64Kind:
		n, err := s.integer(math.MinInt64, math.MaxInt64)
		return protoreflect.ValueOfInt64(n), err
	case protoreflect.DoubleKind:
		n, err := s.float()
		return protoreflect.ValueOfFloat64(n), err
	}
	return protoreflect.Value{}, fmt.Errorf("unsupported field kind %s", f.Kind())
}

func (s *scanner) messageValue(message protoreflect.Message, f *field) error {
	known := wellKnown(message.Descriptor())
	if known == "" {
		return s.message(message, f.message)
	}
	form := map[string]string{timestamp: `a time such as "2026-01-31T12:00:00Z"`, duration: `a duration such as "20s"`}[known]
	text, err := s.textValue(form)
	if err != nil {
		return err
	}
	if known == timestamp {
		t, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			return wrong("is %q; it must be %s", text, form)
		}
		setSpan(message, t.Unix(), int32(t.Nanosecond()))
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return wrong("is %q; it must be %s", text, form)
	}
	setSpan(message, int64(d/time.Second), int32(d%time.Second))
	return nil
}

// setSpan sets the two fields of a timestamp or duration.
func setSpan(message protoreflect.Message, seconds int64, nanos int32) {
	fields := message.Descriptor().Fields()
	message.Set(fields.ByNumber(1), protoreflect.ValueOfInt64(seconds))
	message.Set(fields.ByNumber(2), protoreflect.ValueOfInt32(nanos))
}

func (s *scanner) textValue(wanted string) (string, error) {
	if s.peek() != '"' {
		return "", s.mismatch(wanted)
	}
	return s.text()
}

func (s *scanner) bytesValue(f *field) ([]byte, error) {
	if f.json {
		return s.raw()
	}
	text, err := s.textValue("a string in base64")
	if err != nil {
		return nil, err
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, wrong("is not base64")
	}
	return raw, nil
}

// integer decodes a whole number, which may also be written as a string.
func (s *scanner) integer(lowest, highest int64) (int64, error) {
	var text string
	var err error
	switch c := s.peek(); {
	case c == '"':
		text, err = s.text()
	case c == '-' || c >= '0' && c <= '9':
		text, err = s.number()
	default:
		return 0, s.mismatch("a whole number")
	}
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange) || err == nil && (n < lowest || n > highest):
		return 0, wrong("is %s; it must be between %d and %d", text, lowest, highest)
	case err != nil:
		return 0, wrong("is %q; it must be a whole number", text)
	}
	return n, nil
}

func (s *scanner) float() (float64, error) {
	if c := s.peek(); c != '-' && (c < '0' || c > '9') {
		return 0, s.mismatch("a number")
	}
	text, err := s.number()
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, wrong("is %s, which is out of range", text)
	}
	return n, nil
}
