package wire

import (
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// plan contains the information needed to encode, decode and check a message type.
type plan struct {
	fields   []*field // in the order of the schema
	byName   map[string]*field
	byNumber map[protoreflect.FieldNumber]*field
	nulls    protoreflect.FieldDescriptor // lists the fields that were null; if nil, null fields count as absent
	ruled    bool                         // something in it must be checked
}

// field is a field of a message.
type field struct {
	protoreflect.FieldDescriptor
	name    string
	bit     uint64 // unique bit among the fields of the message
	json    bool
	rules   *fairleadv1.Rules
	message *plan // plan of the field's messages, except for timestamps and durations
}

var plans sync.Map // full name → *plan

// planOf returns the plan of a message type, which is built once.
func planOf(message protoreflect.MessageDescriptor) *plan {
	if known, ok := plans.Load(message.FullName()); ok {
		return known.(*plan)
	}
	p := &plan{byName: map[string]*field{}, byNumber: map[protoreflect.FieldNumber]*field{}}
	for i := range message.Fields().Len() {
		f := newField(message.Fields().Get(i))
		f.bit = 1 << i
		p.fields, p.byName[f.name], p.byNumber[f.Number()] = append(p.fields, f), f, f
		if proto.GetExtension(f.Options(), fairleadv1.E_Nulls).(bool) {
			p.nulls = f.FieldDescriptor
		}
		p.ruled = p.ruled || f.rules != nil || f.texts() || f.message != nil && f.message.ruled
	}
	plans.Store(message.FullName(), p)
	return p
}

func newField(descriptor protoreflect.FieldDescriptor) *field {
	f := &field{FieldDescriptor: descriptor, name: string(descriptor.Name())}
	if options := descriptor.Options(); options != nil {
		f.json = proto.GetExtension(options, fairleadv1.E_Json).(bool)
		if proto.HasExtension(options, fairleadv1.E_Rules) {
			f.rules = proto.GetExtension(options, fairleadv1.E_Rules).(*fairleadv1.Rules)
		}
	}
	if message := descriptor.Message(); message != nil && !descriptor.IsMap() && wellKnown(message) == "" {
		f.message = planOf(message)
	}
	return f
}

// Message types with a JSON form of their own.
const (
	timestamp = "google.protobuf.Timestamp"
	duration  = "google.protobuf.Duration"
)

// wellKnown returns the message's type if it is one of these, and "" otherwise.
func wellKnown(message protoreflect.MessageDescriptor) string {
	switch name := string(message.FullName()); name {
	case timestamp, duration:
		return name
	}
	return ""
}
