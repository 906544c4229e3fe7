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

// parseTemplate reads a text.
func parseTemplate(text string) (template, error) {
	var t template
	for text != "" {
		at := strings.Index(text, "{{")
		if ref := strings.Index(text, "${"); ref >= 0 && (at < 0 || ref < at) {
			at = ref
		}
		if at < 0 {
			return t.plus(literal, text), nil
		}
		t, text = t.plus(literal, text[:at]), text[at:]
		if text[0] == '$' {
			t, text = t.readReference(text)
			continue
		}
		inside, rest, closed := strings.Cut(text[2:], "}}")
		if !closed {
			return nil, errors.New("has {{ without }}; write {{braces}} where {{ itself is meant")
		}
		name := strings.TrimSpace(inside)
		if !slices.Contains(placeholders, name) && !variable.MatchString(name) {
			return nil, fmt.Errorf("has an unknown placeholder {{%.40s}}; known are %s and args.NAME, and {{braces}} writes {{ itself", name, strings.Join(placeholders, ", "))
		}
		t, text = t.plus(placeholder, name), rest
	}
	return t, nil
}

// readReference reads a reference to a secret at the beginning of a text. What
// looks like one but is none, as in a script of a shell, is text.
func (t template) readReference(text string) (template, string) {
	found := reference.FindStringSubmatch(text)
	if found == nil {
		return t.plus(literal, "${"), text[2:]
	}
	return t.plus(secretReference, found[1]), text[len(found[0]):]
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
				return "", fmt.Errorf("cannot hold what {{%s}} stands for: %w", p.text, err)
			}
		}
		if out.Len()+len(text) > limit {
			return "", fmt.Errorf("gets longer than %d bytes when it is filled in; send less", limit)
		}
		out.WriteString(text)
	}
	return out.String(), nil
}
