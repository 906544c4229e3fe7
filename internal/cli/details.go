package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/fairlead-io/fairlead/internal/screen"
	"github.com/fairlead-io/fairlead/internal/wire"
)

// printDetails prints the response to a call, or returns the call's error. In table output,
// it prints the set fields as a list.
func (p *printer) printDetails(message proto.Message, err error) error {
	if err != nil {
		return err
	}
	return p.print(message, func() error {
		var names, texts []string
		width := 0
		m := message.ProtoReflect()
		for i := range m.Descriptor().Fields().Len() {
			f := m.Descriptor().Fields().Get(i)
			if !m.Has(f) {
				continue
			}
			name := strings.ReplaceAll(string(f.Name()), "_", " ")
			names, width = append(names, name), max(width, len(name))
			texts = append(texts, screen.Clean(p.detail(f, m.Get(f))))
		}
		for i, name := range names {
			if _, err := fmt.Fprintln(p.Out, p.In(screen.Faint, screen.Pad(name, width)), "", texts[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// detail formats a value for people.
func (p *printer) detail(f protoreflect.FieldDescriptor, value protoreflect.Value) string {
	switch {
	case f.IsMap():
		return p.labels(value.Map())
	case f.IsList():
		var texts []string
		for i := range value.List().Len() {
			texts = append(texts, p.one(f, value.List().Get(i)))
		}
		return strings.Join(texts, ", ")
	}
	return p.one(f, value)
}

func (p *printer) one(f protoreflect.FieldDescriptor, value protoreflect.Value) string {
	switch f.Kind() {
	case protoreflect.MessageKind:
		switch m := value.Message().Interface().(type) {
		case *timestamppb.Timestamp:
			return p.moment(m.AsTime())
		case *durationpb.Duration:
			return screen.Span(m.AsDuration())
		default:
			raw, err := wire.Marshal(m)
			if err != nil {
				return ""
			}
			return string(raw)
		}
	case protoreflect.BytesKind:
		return string(value.Bytes())
	case protoreflect.BoolKind:
		if !value.Bool() {
			return "no"
		}
		return "yes"
	case protoreflect.DoubleKind:
		return strconv.FormatFloat(value.Float(), 'f', -1, 64)
	}
	return value.String()
}

// moment formats a time as both an absolute and a relative time, if there is room.
func (p *printer) moment(t time.Time) string {
	if !p.Terminal {
		return p.When(t)
	}
	return t.Local().Format("2006-01-02 15:04:05 MST") + " (" + p.When(t) + ")"
}

func (p *printer) labels(texts protoreflect.Map) string {
	labels := map[string]string{}
	texts.Range(func(key protoreflect.MapKey, value protoreflect.Value) bool {
		labels[key.String()] = value.String()
		return true
	})
	return labelText(labels)
}
