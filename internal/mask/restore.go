package mask

import (
	"encoding/json"
	"reflect"
	"strings"
)

// Restore replaces each "***" at a path in fields of a document sent by a caller with the
// stored value, because callers send back masked documents. It returns false if it does not
// know the stored value: nothing was stored at that path, or the path leads into a list in
// which something else was changed too.
func Restore(fields []string, name string, sent, stored json.RawMessage) (json.RawMessage, bool) {
	if !Shown(fields, name, sent) {
		return sent, true
	}
	into, _ := decode(sent)
	from, err := decode(stored)
	if err != nil {
		return sent, false
	}
	if before, _ := decode(Document(fields, name, stored)); reflect.DeepEqual(before, into) {
		return stored, true
	}
	whole := true
	for _, path := range pathsOf(fields, name) {
		var complete bool
		into, complete = restore(into, from, path)
		whole = whole && complete
	}
	return encode(into), whole
}

// Shown reports whether the document has a "***" at any path in fields.
func Shown(fields []string, name string, sent json.RawMessage) bool {
	value, err := decode(sent)
	if err != nil {
		return false // no document, or invalid JSON, which is rejected elsewhere
	}
	for _, path := range pathsOf(fields, name) {
		if shown(path, value) {
			return true
		}
	}
	return false
}

func shown(path []string, value any) (found bool) {
	at(value, path, func(member any, _ []string) any {
		found = found || member == Masked
		return member
	})
	return found
}

// restore replaces masks by stored values.
func restore(into, from any, path []string) (any, bool) {
	if list, ok := into.([]any); ok && len(path) > 0 {
		return list, !shown(path, list) // the elements cannot be matched
	}
	members, inside := into.(map[string]any)
	switch {
	case into == Masked:
		return from, from != nil
	case len(path) == 0 || !inside:
		return into, true
	}
	before, _ := from.(map[string]any)
	whole := true
	for name, member := range members {
		if path[0] == "*" || strings.EqualFold(path[0], name) {
			var complete bool
			members[name], complete = restore(member, before[name], path[1:])
			whole = whole && complete
		}
	}
	return members, whole
}
