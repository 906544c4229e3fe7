package wire

import (
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// plan is what has to be known of a message to read, write and check it.
type plan struct {
	fields   []*field // in the order of the schema
	byName   map[string]*field
	byNumber map[protoreflect.FieldNumber]*field
	nulls    protoreflect.FieldDescriptor // lists which fields were null; nil: they are as if not there
	ruled    bool                         // something in it has to be checked
}

// field is one field of a message.
type field struct {
	protoreflect.FieldDescriptor
	name    string
	bit     uint64 // its own among the fields of the message
	json    bool
	rules   *fairleadv1.Rules
	message *plan // of its messages, if it has any but times and durations
}

var plans sync.Map // full name → *plan

// planOf makes the plan of a message once.
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

// The messages that have a form of their own in JSON.
const (
	timestamp = "google.protobuf.Timestamp"
	duration  = "google.protobuf.Duration"
)

// wellKnown is which of them a message is; empty: none.
func wellKnown(message protoreflect.MessageDescriptor) string {
	switch name := string(message.FullName()); name {
	case timestamp, duration:
		return name
	}
	return ""
}
