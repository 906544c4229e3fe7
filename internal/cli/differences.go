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

// differences contains the fields of an object that will change.
type differences struct {
	defaults map[string]string // by field: the server's default
	nested   protoreflect.Name // a field whose own fields are compared individually
	said     bool              // compare only fields that are set

	lines  []string
	fields []protoreflect.Name
}

func (d *differences) any() bool { return len(d.lines) > 0 }

// describe returns a description of the changes.
func (d *differences) describe(isNew bool, what string) string {
	sign := "~ "
	if isNew {
		sign = "+ "
	}
	return screen.Clean(sign+what) + "\n" + strings.Join(d.lines, "")
}

// compare records the fields that differ. Objects are matched by name, so the name itself
// is not compared.
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

// note records a field if it differs, and reports whether it does.
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

// plain returns a value as text, or its default.
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
