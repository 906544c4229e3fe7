package mask

import (
	"encoding/json"
	"maps"
	"slices"
	"unicode/utf8"
)

// shortest is the minimum length in bytes of a confidential value to be searched for in
// other strings: a single letter or a small number occurs everywhere.
const shortest = 4

// Values holds confidential strings and numbers. It finds them in other strings even if they
// are escaped, encoded or truncated.
type Values struct {
	finder *finder // nil = no values
	exact  map[string]bool
}

// Secrets returns the job's values at the paths in fields.
func Secrets(fields []string, job Job) Values {
	var found leaves
	for name, documents := range map[string][]json.RawMessage{
		"args": {job.Args}, "output": {job.Output}, "progress": {job.Progress, job.Reported}, "memo": {job.Memo},
	} {
		paths := pathsOf(fields, name)
		if len(paths) == 0 {
			continue
		}
		for _, raw := range documents {
			value, err := decode(raw)
			if err != nil {
				continue
			}
			for _, path := range paths {
				at(value, path, func(secret any, rest []string) any {
					found = found.of(inside(name, secret, rest))
					return secret
				})
			}
		}
	}
	return found.values()
}

// inside returns the values at a path within a string that is a document, or the string
// itself if it is not.
func inside(name string, member any, path []string) any {
	text, isText := member.(string)
	if !isText || !embeds(name) {
		return member
	}
	value, ok := embedded(text, path)
	if !ok {
		return member
	}
	var led []any
	at(value, path, func(secret any, _ []string) any {
		led = append(led, secret)
		return secret
	})
	return led
}

// Of returns Values that mask the given secrets regardless of their length. It is used for
// secrets that are not part of a job, such as a node's.
func Of(secrets ...string) Values {
	var found leaves
	for _, secret := range secrets {
		if secret != "" {
			found = append(found, secret)
		}
	}
	return found.values()
}

// leaves contains the strings and numbers in documents.
type leaves []string

// of adds the strings and numbers in a value.
func (l leaves) of(value any) leaves {
	switch value := value.(type) {
	case string:
		if len(value) >= shortest && value != Masked {
			l = append(l, value)
		}
	case json.Number:
		if len(value) >= shortest {
			l = append(l, value.String())
		}
	case []any:
		for _, element := range value {
			l = l.of(element)
		}
	case map[string]any:
		for _, member := range value {
			l = l.of(member)
		}
	}
	return l
}

func (l leaves) values() Values {
	if len(l) == 0 {
		return Values{}
	}
	v := Values{finder: &finder{}, exact: map[string]bool{}}
	for _, value := range l {
		if !v.exact[value] {
			v.exact[value] = true
			for _, form := range formsOf(value) {
				v.finder.add(form)
			}
		}
	}
	return v
}

// mayBeCut is the minimum length of a string that may have been truncated without a mark.
// The shortest unmarked limit is 1 KiB, for the value of a header.
const mayBeCut = 1<<10 - utf8.UTFMax

// Text returns text with the values masked. If text may be truncated, Text also masks the
// start of a value at the end of text or before a truncation mark.
func (v Values) Text(text string) string {
	if v.finder == nil {
		return text
	}
	return v.finder.mask(text, len(text) >= mayBeCut)
}

// Cut masks the values in a truncated string, including the start of a value at the end of the
// string.
func (v Values) Cut(text string) string {
	if v.finder == nil {
		return text
	}
	return v.finder.mask(text, true)
}

// Beginning truncates a large string for storage and masks the values in it. It keeps at least
// the first size bytes, and reports whether it dropped the rest.
func (v Values) Beginning(text string, size int) (masked string, cut bool) {
	size += longestForm // so that a value that begins before the end is masked completely
	if len(text) <= size {
		return v.Text(text), false
	}
	return v.Cut(text[:size]), true
}

// hide masks the values in all strings, numbers and names of a document.
func (v Values) hide(value any) any {
	if v.finder == nil {
		return value
	}
	switch value := value.(type) {
	case string:
		return v.Text(value)
	case json.Number:
		if v.exact[value.String()] {
			return Masked
		}
	case []any:
		for i := range value {
			value[i] = v.hide(value[i])
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			member := v.hide(value[name])
			shown := v.Text(name)
			if shown != name {
				delete(value, name)
			}
			value[shown] = member
		}
	}
	return value
}
