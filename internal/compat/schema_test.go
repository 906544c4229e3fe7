package compat

import (
	"fmt"
	"slices"
	"testing"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
)

// ours are the packages of the schema that are not imported from others.
var ours = []protoreflect.FullName{"fairlead.v1", "batch_scheduler"}

func parseSchema(t *testing.T, content []byte) *protoregistry.Files {
	t.Helper()
	set := &descriptorpb.FileDescriptorSet{}
	if err := proto.Unmarshal(content, set); err != nil {
		t.Fatal(err)
	}
	return filesOf(t, set)
}

func filesOf(t *testing.T, set *descriptorpb.FileDescriptorSet) *protoregistry.Files {
	t.Helper()
	files, err := protodesc.FileOptions{AllowUnresolvable: true}.NewFiles(set) // the well-known types are not part of it
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// schemaChanges lists what callers of the old schema would miss in the new one.
func schemaChanges(before, now *protoregistry.Files) (changes []string) {
	d := &difference{now: now}
	before.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		if slices.Contains(ours, file.Package()) {
			d.messages(file.Messages())
			d.enums(file.Enums())
			d.services(file.Services())
		}
		return true
	})
	slices.Sort(d.changes)
	return d.changes
}

// difference collects missing and changed elements.
type difference struct {
	now     *protoregistry.Files
	changes []string
}

func (d *difference) add(format string, args ...any) {
	d.changes = append(d.changes, fmt.Sprintf(format, args...))
}

// find looks a descriptor up by its name, and notes that it was removed.
func find[D protoreflect.Descriptor](d *difference, old D) (found D, ok bool) {
	current, err := d.now.FindDescriptorByName(old.FullName())
	if err == nil {
		found, ok = current.(D)
	}
	if !ok {
		d.add("%s was removed", old.FullName())
	}
	return found, ok
}

func (d *difference) messages(list protoreflect.MessageDescriptors) {
	for i := range list.Len() {
		old := list.Get(i)
		current, ok := find(d, old)
		if !ok || old.IsMapEntry() {
			continue
		}
		for k := range old.Fields().Len() {
			d.field(old.Fields().Get(k), current.Fields())
		}
		d.messages(old.Messages())
		d.enums(old.Enums())
	}
}

// field compares a field by its number, which counts on the wire, and by its name, which
// counts in JSON.
func (d *difference) field(old protoreflect.FieldDescriptor, now protoreflect.FieldDescriptors) {
	current := now.ByNumber(old.Number())
	switch named := now.ByName(old.Name()); {
	case current == nil && named != nil:
		d.add("%s has number %d instead of %d", old.FullName(), named.Number(), old.Number())
		return
	case current == nil:
		d.add("%s was removed", old.FullName())
		return
	case current.Name() != old.Name():
		d.add("%s is called %s", old.FullName(), current.Name())
		return
	}
	if was, is := fieldType(old), fieldType(current); was != is {
		d.add("%s is %s instead of %s", old.FullName(), is, was)
	}
}

// fieldType describes the value of a field as callers see it.
func fieldType(f protoreflect.FieldDescriptor) string {
	kind := f.Kind().String()
	switch {
	case f.IsMap():
		return "map<" + fieldType(f.MapKey()) + ", " + fieldType(f.MapValue()) + ">"
	case f.Message() != nil:
		kind = string(f.Message().FullName())
	case f.Enum() != nil:
		kind = string(f.Enum().FullName())
	}
	if f.IsList() {
		kind = "repeated " + kind
	}
	if f.HasOptionalKeyword() {
		kind = "optional " + kind
	}
	if oneof := f.ContainingOneof(); oneof != nil && !oneof.IsSynthetic() {
		kind += " of " + string(oneof.Name())
	}
	return kind + " " + f.JSONName()
}

func (d *difference) enums(list protoreflect.EnumDescriptors) {
	for i := range list.Len() {
		old := list.Get(i)
		current, ok := find(d, old)
		if !ok {
			continue
		}
		for k := range old.Values().Len() {
			value := old.Values().Get(k)
			switch now := current.Values().ByName(value.Name()); {
			case now == nil:
				d.add("%s was removed from %s", value.Name(), old.FullName())
			case now.Number() != value.Number():
				d.add("%s of %s has number %d instead of %d", value.Name(), old.FullName(), now.Number(), value.Number())
			}
		}
	}
}

func (d *difference) services(list protoreflect.ServiceDescriptors) {
	for i := range list.Len() {
		old := list.Get(i)
		if _, ok := find(d, old); !ok {
			continue
		}
		for k := range old.Methods().Len() {
			method := old.Methods().Get(k)
			now, ok := find(d, method)
			if !ok {
				continue
			}
			if was, is := methodType(method), methodType(now); was != is {
				d.add("%s is %s instead of %s", method.FullName(), is, was)
			}
			for _, route := range lost(routes(method), routes(now)) {
				d.add("%s is no longer %s", method.FullName(), route)
			}
		}
	}
}

// methodType describes the request and response of a method.
func methodType(m protoreflect.MethodDescriptor) string {
	stream := func(streaming bool, message protoreflect.MessageDescriptor) string {
		if streaming {
			return "stream " + string(message.FullName())
		}
		return string(message.FullName())
	}
	return stream(m.IsStreamingClient(), m.Input()) + " to " + stream(m.IsStreamingServer(), m.Output())
}

// routes returns the HTTP methods and paths of a method.
func routes(m protoreflect.MethodDescriptor) (all []string) {
	rule, _ := proto.GetExtension(m.Options(), annotations.E_Http).(*annotations.HttpRule)
	if rule == nil {
		return nil
	}
	for _, r := range append([]*annotations.HttpRule{rule}, rule.GetAdditionalBindings()...) {
		route := r.GetCustom().GetKind() + " " + r.GetCustom().GetPath()
		switch pattern := r.GetPattern().(type) {
		case *annotations.HttpRule_Get:
			route = "GET " + pattern.Get
		case *annotations.HttpRule_Delete:
			route = "DELETE " + pattern.Delete
		case *annotations.HttpRule_Post:
			route = "POST " + pattern.Post
		case *annotations.HttpRule_Put:
			route = "PUT " + pattern.Put
		case *annotations.HttpRule_Patch:
			route = "PATCH " + pattern.Patch
		}
		all = append(all, route)
	}
	return all
}
