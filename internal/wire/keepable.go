package wire

import (
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// heard are what handlers, targets and those who watch them say. Nothing of it may
// be lost: stores replace what they cannot keep.
var heard = map[protoreflect.FullName]bool{
	"fairlead.v1.RunEnd.error":             true,
	"fairlead.v1.FailJobRequest.error":     true,
	"fairlead.v1.FailedNote.error":         true,
	"fairlead.v1.LineNote.text":            true,
	"fairlead.v1.AddSweepLogsRequest.text": true,
	"fairlead.v1.SweepLog.text":            true,
	"fairlead.v1.NoteItemsRequest.stop":    true,
}

// texts reports whether a field has texts of its own.
func (f *field) texts() bool {
	return f.Kind() == protoreflect.StringKind || f.IsMap() && f.MapValue().Kind() == protoreflect.StringKind
}

// texts refuses texts that not every database can keep, in whatever field: also what
// is only looked for, as no such thing can exist. That they are valid UTF-8 was seen
// when the message was read.
func (c *checker) texts(value protoreflect.Value, f *field, path string) {
	switch {
	case f.IsMap():
		value.Map().Range(func(key protoreflect.MapKey, value protoreflect.Value) bool {
			c.keepable(key.String(), path)
			c.keepable(value.String(), path)
			return true
		})
	case f.IsList():
		for i := range value.List().Len() {
			c.keepable(value.List().Get(i).String(), path+"["+strconv.Itoa(i)+"]")
		}
	default:
		c.keepable(value.String(), path)
	}
}

func (c *checker) keepable(text, path string) {
	if strings.IndexByte(text, 0) >= 0 {
		c.refuse(path, "contains a NUL character")
	}
}
