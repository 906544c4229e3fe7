package httpcall

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// template is a text with placeholders, such as {{run_id}}, and references to
// secrets, such as ${env:NAME}. It is read once: what a placeholder stands for
// is never looked at for more of them.
type template []part

// part is a piece of a template.
type part struct {
	sort partSort
	text string // of the literal, or the name of what stands here
}

type partSort int

const (
	literal partSort = iota
	placeholder
	secretReference
)

// The names of placeholders, but for those that begin with args.
var placeholders = []string{
	"run_id", "due_time", "attempt", "fence", "schedule", "tenant", "key", "callback_url", "callback_token",
	"braces", // writes {{ itself
}

var (
	variable  = regexp.MustCompile(`^args(\.[A-Za-z0-9_-]+)+$`)
	reference = regexp.MustCompile(`^\$\{(env:[A-Za-z_][A-Za-z0-9_]*|file:[^{}"]+)\}`)
)

// parseTemplate reads a text. It looks at each byte once, however many placeholders and
// references there are, of which it refuses too many.
func parseTemplate(text string) (template, error) {
	var t template
	begin, places := 0, 0 // begin is that of the text that no part has yet
	for at := 0; at < len(text); {
		if at+1 == len(text) || text[at] != '{' && text[at] != '$' || text[at+1] != '{' {
			at++
			continue
		}
		p, size, err := readPlace(text[at:])
		if err != nil {
			return nil, err
		}
		if p.sort != literal { // else it only looks like a reference, as in a script of a shell
			if places++; places > maxPlaces {
				return nil, errTooManyPlaces
			}
			t = append(t.plus(literal, text[begin:at]), p)
			begin = at + size
		}
		at += size
	}
	return t.plus(literal, text[begin:]), nil
}

var errTooManyPlaces = fmt.Errorf("has more than %d placeholders and references; use fewer", maxPlaces)

// readPlace reads a placeholder or a reference with which a text begins, and how long
// it is.
func readPlace(text string) (p part, size int, err error) {
	if text[0] == '$' {
		found := reference.FindStringSubmatch(text)
		if found == nil {
			return part{sort: literal}, len("${"), nil
		}
		return part{sort: secretReference, text: found[1]}, len(found[0]), nil
	}
	inside, _, closed := strings.Cut(text[2:], "}}")
	if !closed {
		return p, 0, errors.New("contains {{ without }}; write {{braces}} for a literal {{")
	}
	name := strings.TrimSpace(inside)
	if !slices.Contains(placeholders, name) && !variable.MatchString(name) {
		return p, 0, fmt.Errorf("contains the unknown placeholder {{%.40s}}; use %s or args.NAME, or {{braces}} for a literal {{", name, strings.Join(placeholders, ", "))
	}
	return part{sort: placeholder, text: name}, len("{{}}") + len(inside), nil
}

func (t template) plus(sort partSort, text string) template {
	if text == "" {
		return t
	}
	return append(t, part{sort: sort, text: text})
}

// plain reports whether there is nothing to fill in.
func (t template) plain() bool {
	return !slices.ContainsFunc(t, func(p part) bool { return p.sort != literal })
}

// names lists what of a sort is in the template.
func (t template) names(sort partSort) []string {
	var names []string
	for _, p := range t {
		if p.sort == sort {
			names = append(names, p.text)
		}
	}
	return names
}

// filler is where the values of placeholders and secrets come from.
type filler interface {
	fill(p part) (any, error)
}

// render writes the template with its values, each as the dialect has it, and
// fails if that gets longer than limit bytes: a few placeholders can stand for
// very much.
func (t template) render(d dialect, from filler, limit int) (string, error) {
	var out strings.Builder
	for _, p := range t {
		text := p.text
		if p.sort == literal {
			d.pass(text)
		} else {
			value, err := from.fill(p)
			if err != nil {
				return "", err
			}
			if text, err = d.write(value); err != nil {
				return "", fmt.Errorf("cannot contain the value of placeholder {{%s}}: %w", p.text, err)
			}
		}
		if out.Len()+len(text) > limit {
			return "", fmt.Errorf("is longer than %d bytes after placeholder substitution; shorten it", limit)
		}
		out.WriteString(text)
	}
	return out.String(), nil
}
