package mask

import (
	"encoding/json"
	"slices"
	"strings"
)

// shortest is how many bytes a value must have to be looked for in other texts: one letter
// or a small number is in every text.
const shortest = 4

// Values are texts and numbers that are confidential.
type Values []string

// Secrets returns the values of a job that paths of fields lead to.
func Secrets(fields []string, job Job) (found Values) {
	for name, documents := range map[string][]json.RawMessage{
		"args": {job.Args}, "output": {job.Output}, "progress": {job.Progress, job.Reported}, "memo": {job.Memo},
	} {
		paths := pathsOf(fields, name)
		for _, raw := range documents {
			value, err := decode(raw)
			if err != nil || len(paths) == 0 {
				continue
			}
			for _, path := range paths {
				at(value, path, func(secret any) any {
					found = found.leaves(secret)
					return secret
				})
			}
		}
	}
	// The longest first: one may be a part of another.
	slices.SortFunc(found, func(a, b string) int { return len(b) - len(a) })
	return found
}

// leaves adds the texts and numbers in a value.
func (v Values) leaves(value any) Values {
	switch value := value.(type) {
	case string:
		if len(value) >= shortest && value != Masked {
			v = append(v, value)
		}
	case json.Number:
		if len(value) >= shortest {
			v = append(v, value.String())
		}
	case []any:
		for _, element := range value {
			v = v.leaves(element)
		}
	case map[string]any:
		for _, member := range value {
			v = v.leaves(member)
		}
	}
	return v
}

// Text returns a text with the values masked.
func (v Values) Text(text string) string {
	for _, value := range v {
		text = strings.ReplaceAll(text, value, Masked)
	}
	return text
}

// hide masks the values in all texts and numbers of a document.
func (v Values) hide(value any) any {
	if len(v) == 0 {
		return value
	}
	switch value := value.(type) {
	case string:
		return v.Text(value)
	case json.Number:
		if slices.Contains(v, value.String()) {
			return Masked
		}
	case []any:
		for i := range value {
			value[i] = v.hide(value[i])
		}
	case map[string]any:
		for name, member := range value {
			value[name] = v.hide(member)
		}
	}
	return value
}
