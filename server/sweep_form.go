package server

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/message"
	"github.com/fairlead-io/fairlead/server/internal/rest"
	"github.com/fairlead-io/fairlead/sweep"
)

// notSettings lists fields that a change may contain without effect.
var notSettings = []protoreflect.Name{
	"id", "version", "state", "reason", "run", "progress", "created_at", "started_at", "ended_at", "asked_at", "ref", "clear",
}

// patchSweep changes the fields of a sweep that are set in a request, and describes the
// changes.
func patchSweep(current sweep.Record, by *fairleadv1.Sweep) (changed sweep.Sweep, note string, err error) {
	asked := slices.Clone(by.GetClear())
	by.ProtoReflect().Range(func(field protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
		if !slices.Contains(notSettings, field.Name()) {
			asked = append(asked, string(field.Name()))
		}
		return true
	})
	switch {
	case slices.Contains(asked, "args"):
		return changed, "", rest.InvalidField("args", "cannot be changed with this method; use PUT /api/v1/sweeps/{id}/data")
	case len(asked) == 0:
		return changed, "", rest.InvalidField("rate", "is missing; set rate or another field to change")
	}
	patched := message.Sweep(&current, current.CreatedAt)
	if err := clearFields(patched.ProtoReflect(), by.GetClear(), "a sweep"); err != nil {
		return changed, "", err
	}
	setFields(patched.ProtoReflect(), by.ProtoReflect())
	if !slices.Contains(asked, "window") && patched.GetInFlight() > patched.GetWindow() {
		patched.Window = nil // the default grows with it
	}
	if len(by.GetSource().GetList()) > 0 && !slices.Contains(asked, "to") {
		patched.To = nil // the end of the list
	}
	changed = message.SweepOf(patched)
	changed.ID = current.ID
	if by.GetVersion() == 0 {
		changed.Version = current.Version
	}
	return changed, noteOf(patched, asked), nil
}

// noteOf describes the new values of fields.
func noteOf(sweep *fairleadv1.Sweep, names []string) string {
	slices.Sort(names)
	message, parts := sweep.ProtoReflect(), []string{}
	for _, name := range slices.Compact(names) {
		field := message.Descriptor().Fields().ByName(protoreflect.Name(name))
		switch {
		case field.Message() != nil:
			parts = append(parts, name)
		case !message.Has(field):
			parts = append(parts, name+" default")
		default:
			parts = append(parts, fmt.Sprintf("%s %v", name, message.Get(field).Interface()))
		}
	}
	return strings.Join(parts, ", ")
}
