package wire

import (
	"errors"
	"strconv"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// SetTexts sets a message's field from strings in a URL. A list accepts any number of strings;
// any other field accepts exactly one. SetTexts returns FieldErrors if the field is unknown or
// a string is invalid.
func SetTexts(message proto.Message, name string, texts []string) error {
	m := message.ProtoReflect()
	f := planOf(m.Descriptor()).byName[name]
	switch {
	case f == nil:
		return inside(name, wrong("is not a known parameter"))
	case f.IsMap() || f.message != nil || f.json:
		return inside(name, wrong("cannot be given in the URL"))
	case !f.IsList() && len(texts) > 1:
		return inside(name, wrong("appears %d times", len(texts)))
	}
	for i, text := range texts {
		s := &scanner{data: quoted(f, text)}
		value, err := s.value(f, func() protoreflect.Value { return element(m, f) })
		if err == nil {
			err = s.end()
		}
		if err != nil {
			if f.IsList() {
				err = inside("["+strconv.Itoa(i)+"]", err)
			}
			return inside(name, plain(err))
		}
		if f.IsList() {
			m.Mutable(f.FieldDescriptor).List().Append(value)
		} else {
			m.Set(f.FieldDescriptor, value)
		}
	}
	return nil
}

// quoted returns a string in the JSON form of its field.
func quoted(f *field, text string) []byte {
	switch f.Kind() {
	case protoreflect.BoolKind, protoreflect.DoubleKind:
		return []byte(text)
	}
	return appendText(nil, text)
}

func element(m protoreflect.Message, f *field) protoreflect.Value {
	if f.IsList() {
		return m.Mutable(f.FieldDescriptor).List().NewElement()
	}
	return m.NewField(f.FieldDescriptor)
}

// plain returns the error of an invalid string in a URL without mentioning JSON.
func plain(err error) error {
	var syntax *syntaxError
	if errors.As(err, &syntax) {
		return wrong("cannot be read")
	}
	return err
}
