package wire

import (
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// heard lists the fields with strings from handlers, targets and their observers. These
// strings must never be rejected: stores replace characters that they cannot store.
var heard = map[protoreflect.FullName]bool{
	"fairlead.v1.RunEnd.error":             true,
	"fairlead.v1.FailJobRequest.error":     true,
	"fairlead.v1.FailedNote.error":         true,
	"fairlead.v1.LineNote.text":            true,
	"fairlead.v1.AddSweepLogsRequest.text": true,
	"fairlead.v1.SweepLog.text":            true,
	"fairlead.v1.NoteItemsRequest.stop":    true,
}

// texts reports whether a field contains strings.
func (f *field) texts() bool {
	return f.Kind() == protoreflect.StringKind || f.IsMap() && f.MapValue().Kind() == protoreflect.StringKind
}

// texts rejects strings that some databases cannot store, in any field. This includes
// search terms, because no such value can exist. Valid UTF-8 was already checked when the
// message was decoded.
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
