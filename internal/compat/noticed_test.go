package compat

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
)

func TestChangesOfASchemaAreNoticed(t *testing.T) {
	for _, c := range []struct {
		want   string // empty: nothing is lost
		change func(*descriptorpb.FileDescriptorProto)
	}{
		{"", func(*descriptorpb.FileDescriptorProto) {}},
		{"", func(f *descriptorpb.FileDescriptorProto) {
			f.MessageType[0].Field = append(f.MessageType[0].Field, field("more", 9, descriptorpb.FieldDescriptorProto_TYPE_STRING))
		}},
		{"fairlead.v1.Asked.name was removed", func(f *descriptorpb.FileDescriptorProto) { f.MessageType[0].Field = f.MessageType[0].Field[:1] }},
		{"fairlead.v1.Asked.name has number 7 instead of 2", func(f *descriptorpb.FileDescriptorProto) { f.MessageType[0].Field[1].Number = proto.Int32(7) }},
		{"fairlead.v1.Asked.name is called title", func(f *descriptorpb.FileDescriptorProto) { f.MessageType[0].Field[1].Name = proto.String("title") }},
		{"fairlead.v1.Asked.id is string id instead of int64 id", func(f *descriptorpb.FileDescriptorProto) {
			f.MessageType[0].Field[0].Type = descriptorpb.FieldDescriptorProto_TYPE_STRING.Enum()
		}},
		{"fairlead.v1.Asked.id is repeated int64 id instead of int64 id", func(f *descriptorpb.FileDescriptorProto) {
			f.MessageType[0].Field[0].Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
		}},
		{"DONE was removed from fairlead.v1.State", func(f *descriptorpb.FileDescriptorProto) { f.EnumType[0].Value = f.EnumType[0].Value[:1] }},
		{"DONE of fairlead.v1.State has number 5 instead of 1", func(f *descriptorpb.FileDescriptorProto) { f.EnumType[0].Value[1].Number = proto.Int32(5) }},
		{"fairlead.v1.Jobs.Get was removed", func(f *descriptorpb.FileDescriptorProto) { f.Service[0].Method = nil }},
		{"fairlead.v1.Jobs was removed", func(f *descriptorpb.FileDescriptorProto) { f.Service = nil }},
		{"fairlead.v1.Jobs.Get is fairlead.v1.Asked to stream fairlead.v1.Asked instead of fairlead.v1.Asked to fairlead.v1.Asked", func(f *descriptorpb.FileDescriptorProto) {
			f.Service[0].Method[0].ServerStreaming = proto.Bool(true)
		}},
	} {
		before, now := example(), example()
		c.change(now)
		got := strings.Join(schemaChanges(filesOf(t, set(before)), filesOf(t, set(now))), "; ")
		if got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func set(file *descriptorpb.FileDescriptorProto) *descriptorpb.FileDescriptorSet {
	return &descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{file}}
}

// example returns a small schema.
func example() *descriptorpb.FileDescriptorProto {
	return &descriptorpb.FileDescriptorProto{
		Name: proto.String("example.proto"), Package: proto.String("fairlead.v1"), Syntax: proto.String("proto3"),
		MessageType: []*descriptorpb.DescriptorProto{{Name: proto.String("Asked"), Field: []*descriptorpb.FieldDescriptorProto{
			field("id", 1, descriptorpb.FieldDescriptorProto_TYPE_INT64),
			field("name", 2, descriptorpb.FieldDescriptorProto_TYPE_STRING),
		}}},
		EnumType: []*descriptorpb.EnumDescriptorProto{{Name: proto.String("State"), Value: []*descriptorpb.EnumValueDescriptorProto{
			{Name: proto.String("OPEN"), Number: proto.Int32(0)}, {Name: proto.String("DONE"), Number: proto.Int32(1)},
		}}},
		Service: []*descriptorpb.ServiceDescriptorProto{{Name: proto.String("Jobs"), Method: []*descriptorpb.MethodDescriptorProto{
			{Name: proto.String("Get"), InputType: proto.String(".fairlead.v1.Asked"), OutputType: proto.String(".fairlead.v1.Asked")},
		}}},
	}
}

func field(name string, number int32, kind descriptorpb.FieldDescriptorProto_Type) *descriptorpb.FieldDescriptorProto {
	return &descriptorpb.FieldDescriptorProto{Name: &name, Number: &number, Type: &kind, Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()}
}

func TestTheListingOfTheGoAPIHasWhatProgramsUse(t *testing.T) {
	listed := goAPI(t)
	for _, want := range []string{
		"pkg fairlead, method (*Client) Enqueue(context.Context, ...*fairlead.Job) error",
		"pkg fairlead, type Job struct",
		"pkg driver, type Store interface",
		"pkg postgres, func Open(context.Context, string) (*postgres.Store, error)",
		"pkg mysql, type Options struct, MaxConns int",
	} {
		if !slices.Contains(listed, want) {
			t.Errorf("%q is not listed", want)
		}
	}
	for _, line := range listed {
		if strings.HasPrefix(line, "pkg internal/") || strings.HasPrefix(line, "pkg sim") || strings.HasPrefix(line, "pkg storetest") {
			t.Errorf("a package without a promise is listed: %s", line)
		}
	}
}
