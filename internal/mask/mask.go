// Package mask shows jobs without what is confidential of them. It knows documents and paths
// into them, and not whose they are.
package mask

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Masked stands in the place of a confidential value.
const Masked = "***"

// Documents are those that paths may begin with.
var Documents = []string{"args", "output", "progress", "memo"}

// Job is the documents of a job, and its error.
type Job struct {
	Args, Output, Progress, Reported, Memo json.RawMessage
	Error                                  string
}

// Show returns a job with "***" in the place of every value that a path of fields leads to,
// and of these values wherever else they stand in it.
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

// Document returns one document of a job with its confidential values masked.
func Document(fields []string, name string, raw json.RawMessage) json.RawMessage {
	return document(fields, name, raw, Values{})
}

// Hides reports whether a document has something in a place that a path of fields leads to.
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

// Document returns one document with what the fields lead to masked, and the values wherever else
// they stand in it.
func (v Values) Document(fields []string, name string, raw json.RawMessage) json.RawMessage {
	return document(fields, name, raw, v)
}

// document masks a document. One that cannot be read is masked as a whole.
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

// embeds reports whether texts in a document may be documents themselves, as the body of a call is in
// what is kept of it. What callers send back, with masks in it, is not looked into.
func embeds(name string) bool { return name == "output" || name == "progress" }

// embedded reads a text in which a path goes on. It reports false if it is no whole object or list:
// it may be a form, or be cut.
func embedded(text string, path []string) (value any, ok bool) {
	if len(path) == 0 || !json.Valid([]byte(text)) {
		return nil, false
	}
	value, err := decode(json.RawMessage(text))
	_, isObject := value.(map[string]any)
	_, isList := value.([]any)
	return value, err == nil && (isObject || isList)
}

// Within returns the paths that lead on from a member of a document, as paths of another
// one: of "args.after.iban" with "args.after" and "args" it is "args.iban".
func Within(fields []string, member, name string) (within []string) {
	path := strings.Split(member, ".")
	for _, field := range fields {
		names := strings.Split(field, ".")
		switch {
		case len(names) <= len(path) && leads(names, path[:len(names)]):
			within = append(within, name) // the member is in what is confidential
		case len(names) > len(path) && leads(names[:len(path)], path):
			within = append(within, name+"."+strings.Join(names[len(path):], "."))
		}
	}
	return within
}

// leads reports whether a path of fields goes along plain names.
func leads(path, names []string) bool {
	for i := range names {
		if path[i] != "*" && !strings.EqualFold(path[i], names[i]) {
			return false
		}
	}
	return true
}

// pathsOf returns the paths that lead into a document, without its name. A * at the end
// adds nothing: what a path leads to is masked as a whole.
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

// at replaces what a path leads to, and texts and numbers where it would go on: a text may be a
// document in another form. What replaces them is told the rest of the path.
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
	decoder.UseNumber() // all digits of a number stay
	err = decoder.Decode(&value)
	return value, err
}

// encode writes what was decoded, which always works.
func encode(value any) json.RawMessage {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(value) != nil {
		return json.RawMessage(`"` + Masked + `"`)
	}
	return bytes.TrimSpace(out.Bytes())
}
