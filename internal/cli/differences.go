package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/fairlead-io/fairlead/internal/screen"
	"github.com/fairlead-io/fairlead/internal/wire"
)

// differences contains the changed fields of an object.
type differences struct {
	defaults map[string]string // server's defaults for omitted fields, by field
	nested   protoreflect.Name // field whose own fields are compared individually
	said     bool              // whether only fields that are set are compared

	lines  []string
	fields []protoreflect.Name
}

func (d *differences) any() bool { return len(d.lines) > 0 }

// describe describes the changes.
func (d *differences) describe(isNew bool, what string) string {
	sign := "~ "
	if isNew {
		sign = "+ "
	}
	return screen.Clean(sign+what) + "\n" + strings.Join(d.lines, "")
}

// compare adds the fields that differ. The objects were matched by name, so the name is
// skipped.
func (d *differences) compare(path string, before, after protoreflect.Message) {
	for i := range after.Descriptor().Fields().Len() {
		f := after.Descriptor().Fields().Get(i)
		name := path + string(f.Name())
		switch {
		case name == "name", d.said && !after.Has(f):
		case f.Name() == d.nested && path == "":
			d.compare(name+".", before.Get(f).Message(), after.Get(f).Message())
		case d.note(name, d.plain(name, f, before), d.plain(name, f, after)):
			d.fields = append(d.fields, f.Name())
		}
	}
}

// note adds a field, if it differs.
func (d *differences) note(name, before, after string) bool {
	if before == after {
		return false
	}
	d.lines = append(d.lines, fmt.Sprintf("    %s: %s -> %s\n", name, screen.Clean(orNone(before)), screen.Clean(orNone(after))))
	return true
}

func orNone(text string) string {
	if text == "" {
		return "(none)"
	}
	return text
}

// plain formats a value, or its default.
func (d *differences) plain(name string, f protoreflect.FieldDescriptor, message protoreflect.Message) string {
	if !message.Has(f) {
		return d.defaults[name]
	}
	switch m := message.Get(f).Interface().(type) {
	case protoreflect.Message:
		return exact(m.Interface())
	case []byte:
		var out bytes.Buffer
		if err := json.Compact(&out, m); err != nil {
			return string(m)
		}
		return out.String()
	}
	p := &printer{Screen: &screen.Screen{}, format: "table"}
	return p.detail(f, message.Get(f))
}

// exact formats a time, a duration or another message without rounding.
func exact(message proto.Message) string {
	switch m := message.(type) {
	case *timestamppb.Timestamp:
		return m.AsTime().Format(time.RFC3339Nano)
	case *durationpb.Duration:
		return m.AsDuration().String()
	}
	raw, err := wire.Marshal(message)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}
