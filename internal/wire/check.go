package wire

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// maxFound is the maximum number of violations reported for a message.
const maxFound = 100

// Check returns the violations of the message's validation rules, at most maxFound of them.
func Check(message proto.Message) []FieldError {
	m := message.ProtoReflect()
	c := checker{}
	c.message(m, planOf(m.Descriptor()), "")
	return c.found
}

type checker struct {
	found []FieldError
}

func (c *checker) refuse(path, format string, args ...any) {
	if len(c.found) >= maxFound {
		return
	}
	c.found = append(c.found, FieldError{Field: path, Message: fmt.Sprintf(format, args...)})
}

func (c *checker) message(message protoreflect.Message, p *plan, path string) {
	if !p.ruled || len(c.found) >= maxFound {
		return
	}
	for _, f := range p.fields {
		at := f.name
		if path != "" {
			at = path + "." + f.name
		}
		value, set := message.Get(f.FieldDescriptor), message.Has(f.FieldDescriptor)
		if f.rules != nil {
			c.rules(value, set, f, at)
		}
		if set && f.texts() && !heard[f.FullName()] {
			c.texts(value, f, at)
		}
		switch {
		case f.message == nil || !set:
		case f.IsList():
			for i := range value.List().Len() {
				c.message(value.List().Get(i).Message(), f.message, at+"["+strconv.Itoa(i)+"]")
			}
		default:
			c.message(value.Message(), f.message, at)
		}
	}
}

func (c *checker) rules(value protoreflect.Value, set bool, f *field, path string) {
	if f.rules.GetRequired() && !set {
		c.refuse(path, "is required")
		return
	}
	if !f.IsList() {
		c.one(value, f, path)
		return
	}
	list := value.List()
	if most := f.rules.Max; most != nil && int64(list.Len()) > *most {
		c.refuse(path, "has %d entries; at most %d are allowed at once", list.Len(), *most)
	}
	if f.Kind() == protoreflect.StringKind {
		for i := range list.Len() {
			c.text(list.Get(i).String(), f.rules, path+"["+strconv.Itoa(i)+"]")
		}
	}
}

func (c *checker) one(value protoreflect.Value, f *field, path string) {
	switch f.Kind() {
	case protoreflect.StringKind:
		c.text(value.String(), f.rules, path)
	case protoreflect.Int32Kind, protoreflect.Int64Kind:
		n := value.Int()
		if least := f.rules.Min; least != nil && n < *least {
			c.refuse(path, "is %d; it must be at least %d", n, *least)
		}
		if most := f.rules.Max; most != nil && n > *most {
			c.refuse(path, "is %d; it must be at most %d", n, *most)
		}
	}
}

func (c *checker) text(text string, rules *fairleadv1.Rules, path string) {
	if most := rules.GetMaxBytes(); most > 0 && len(text) > int(most) {
		c.refuse(path, "has %d bytes; at most %d are allowed", len(text), most)
	}
	if len(rules.GetIn()) > 0 && text != "" && !slices.Contains(rules.GetIn(), text) {
		c.refuse(path, "is %q; it must be one of %s", text, strings.Join(rules.GetIn(), ", "))
	}
}
