// Package mask removes confidential values from jobs. It works on documents and paths,
// independent of their owners.
package mask

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Masked is the text that replaces a confidential value.
const Masked = "***"

// Documents lists the names of the documents in which a path may begin.
var Documents = []string{"args", "output", "progress", "memo"}

// Job holds a job's documents and error.
type Job struct {
	Args, Output, Progress, Reported, Memo json.RawMessage
	Error                                  string
}

// Show returns a copy of job in which "***" replaces each value at a path in fields. It also
// masks every other occurrence of these values in the job.
func Show(fields []string, job Job) Job {
	if len(fields) == 0 {
		return job
	}
	secrets := Secrets(fields, job)
	return Job{
		Args: document(fields, "args", job.Args, secrets), Output: document(fields, "output", job.Output, secrets),
		Progress: document(fields, "progress", job.Progress, secrets), Reported: document(fields, "progress", job.Reported, secrets),
		Memo: document(fields, "memo", job.Memo, secrets), Error: secrets.Text(job.Error),
	}
}

// Document returns a job's document with its confidential values masked.
func Document(fields []string, name string, raw json.RawMessage) json.RawMessage {
	return document(fields, name, raw, Values{})
}

// Hides reports whether the document has a value at any path in fields.
func Hides(fields []string, name string, raw json.RawMessage) (found bool) {
	value, err := decode(raw)
	for _, path := range pathsOf(fields, name) {
		at(value, path, func(member any, _ []string) any {
			found = found || member != nil && member != ""
			return member
		})
	}
	return found && err == nil
}

// Document returns the document with the values at the paths in fields masked. It also masks
// every other occurrence of a value in v.
func (v Values) Document(fields []string, name string, raw json.RawMessage) json.RawMessage {
	return document(fields, name, raw, v)
}

// document masks a document. If it cannot be parsed, it is masked as a whole.
func document(fields []string, name string, raw json.RawMessage, secrets Values) json.RawMessage {
	paths := pathsOf(fields, name)
	if len(raw) == 0 || len(paths) == 0 && secrets.finder == nil {
		return raw
	}
	value, err := decode(raw)
	if err != nil {
		return encode(Masked)
	}
	for _, path := range paths {
		value = at(value, path, func(member any, rest []string) any {
			if text, isText := member.(string); isText && embeds(name) {
				if value, ok := embedded(text, rest); ok {
					return string(encode(at(value, rest, func(any, []string) any { return Masked })))
				}
			}
			return Masked
		})
	}
	return encode(secrets.hide(value))
}

// embeds reports whether strings in a document may be documents themselves, like the body
// in the record of a call. It returns false for documents that callers send back, with
// masks in them.
func embeds(name string) bool { return name == "output" || name == "progress" }

// embedded parses a string in which a path continues. It returns false if the string is not
// a complete object or list: it may be a form, or truncated.
func embedded(text string, path []string) (value any, ok bool) {
	if len(path) == 0 || !json.Valid([]byte(text)) {
		return nil, false
	}
	value, err := decode(json.RawMessage(text))
	_, isObject := value.(map[string]any)
	_, isList := value.([]any)
	return value, err == nil && (isObject || isList)
}

// Within converts paths in one document to paths in another document, which contains the
// member under name. For example, with member "args.after" and name "args", the path
// "args.after.iban" becomes "args.iban". Within drops paths that do not concern the member. If
// the member lies inside a confidential value, the result contains name itself.
func Within(fields []string, member, name string) (within []string) {
	path := strings.Split(member, ".")
	for _, field := range fields {
		names := strings.Split(field, ".")
		switch {
		case len(names) <= len(path) && leads(names, path[:len(names)]):
			within = append(within, name) // the member is inside a confidential value
		case len(names) > len(path) && leads(names[:len(path)], path):
			within = append(within, name+"."+strings.Join(names[len(path):], "."))
		}
	}
	return within
}

// leads reports whether a path in fields matches plain names.
func leads(path, names []string) bool {
	for i := range names {
		if path[i] != "*" && !strings.EqualFold(path[i], names[i]) {
			return false
		}
	}
	return true
}

// pathsOf returns the paths within a document, without its name. A * at the end has no
// effect, because the value at a path is masked as a whole.
func pathsOf(fields []string, name string) (paths [][]string) {
	for _, field := range fields {
		names := strings.Split(field, ".")
		if names[0] != name {
			continue
		}
		for names = names[1:]; len(names) > 0 && names[len(names)-1] == "*"; {
			names = names[:len(names)-1]
		}
		paths = append(paths, names)
	}
	return paths
}

// at replaces the values at a path, and strings and numbers at which the path would
// continue: a string may be a document in another form. by receives the rest of the path.
func at(value any, path []string, by func(member any, rest []string) any) any {
	if list, ok := value.([]any); ok && len(path) > 0 {
		for i := range list {
			list[i] = at(list[i], path, by)
		}
		return list
	}
	members, inside := value.(map[string]any)
	switch {
	case value == nil && len(path) > 0:
		return value
	case len(path) == 0 || !inside:
		return by(value, path)
	}
	for name, member := range members {
		if path[0] == "*" || strings.EqualFold(path[0], name) {
			members[name] = at(member, path[1:], by)
		}
	}
	return members
}

func decode(raw json.RawMessage) (value any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber() // retains all digits of numbers
	err = decoder.Decode(&value)
	return value, err
}

// encode encodes a decoded value, which never fails.
func encode(value any) json.RawMessage {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(value) != nil {
		return json.RawMessage(`"` + Masked + `"`)
	}
	return bytes.TrimSpace(out.Bytes())
}
