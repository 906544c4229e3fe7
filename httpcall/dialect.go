package httpcall

import (
	"encoding/json"
	"errors"
	"mime"
	"net/url"
	"strings"
)

// dialect writes values into one sort of text, so that they stay what they are:
// values. It gets the text around them too, in order.
type dialect interface {
	pass(text string)
	write(value any) (string, error)
}

// urlDialect writes into the path and, from the first question mark on, into the
// query of a URL.
type urlDialect struct{ query bool }

func (d *urlDialect) pass(text string) { d.query = d.query || strings.Contains(text, "?") }

func (d *urlDialect) write(value any) (string, error) {
	if d.query {
		return url.QueryEscape(textOf(value)), nil
	}
	return url.PathEscape(textOf(value)), nil
}

// headerDialect writes into the value of a header, which is one line.
type headerDialect struct{}

func (headerDialect) pass(string) {}

func (headerDialect) write(value any) (string, error) {
	text := textOf(value)
	if !fitsHeader(text) {
		return "", errors.New("the value contains a line break or another control character")
	}
	return text, nil
}

// fitsHeader reports whether a text can be the value of a header.
func fitsHeader(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// jsonDialect writes into JSON: into strings as their text, anywhere else as a
// value of JSON.
type jsonDialect struct{ inside, escaping bool }

func (d *jsonDialect) pass(text string) {
	for i := range len(text) {
		switch c := text[i]; {
		case d.escaping:
			d.escaping = false
		case d.inside && c == '\\':
			d.escaping = true
		case c == '"':
			d.inside = !d.inside
		}
	}
}

func (d *jsonDialect) write(value any) (string, error) {
	if d.escaping {
		return "", errors.New("a backslash precedes the placeholder")
	}
	if !d.inside {
		return encodeJSON(value), nil
	}
	quoted := encodeJSON(textOf(value))
	return quoted[1 : len(quoted)-1], nil
}

// formDialect writes into a form.
type formDialect struct{}

func (formDialect) pass(string) {}

func (formDialect) write(value any) (string, error) { return url.QueryEscape(textOf(value)), nil }

// textDialect writes values as they are.
type textDialect struct{}

func (textDialect) pass(string) {}

func (textDialect) write(value any) (string, error) { return textOf(value), nil }

// bodyDialect is the dialect of a type of content.
func bodyDialect(contentType string) dialect {
	media, _, err := mime.ParseMediaType(contentType)
	switch {
	case err == nil && (media == "application/json" || strings.HasSuffix(media, "+json")):
		return &jsonDialect{}
	case err == nil && media == "application/x-www-form-urlencoded":
		return formDialect{}
	default:
		return textDialect{}
	}
}

// textOf is a value as people write it. Lists and objects are written as JSON.
func textOf(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case json.Number:
		return v.String()
	default:
		return encodeJSON(v)
	}
}

// encodeJSON writes values that came out of JSON, so it cannot fail.
func encodeJSON(value any) string {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return "null"
	}
	return strings.TrimSuffix(out.String(), "\n")
}
