// Package check collects the fields of an input that cannot be accepted, so that one error
// names all of them. It knows plain values only: its callers make errors of what it found.
package check

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"
)

// Bounds that several kinds of input share.
const (
	MaxURL   = 2000                 // bytes of an address
	MaxPause = 366 * 24 * time.Hour // for which something may wait
)

// Field is what callers call a field that was refused, with the way to mend it.
type Field interface {
	~struct {
		Field   string `json:"field"`
		Message string `json:"message"`
	}
}

// Fields are those that were refused so far.
type Fields[F Field] struct {
	Found []F
}

// Refuse adds a field.
func (f *Fields[F]) Refuse(field, format string, args ...any) {
	f.Found = append(f.Found, F{Field: field, Message: fmt.Sprintf(format, args...)})
}

// Adopt adds the refused fields of something that is part of the input.
func (f *Fields[F]) Adopt(prefix string, part []F) {
	for _, refused := range part {
		plain := struct {
			Field   string `json:"field"`
			Message string `json:"message"`
		}(refused)
		f.Refuse(prefix+plain.Field, "%s", plain.Message)
	}
}

// Name takes a text that names something.
func (f *Fields[F]) Name(field, value string, limit int) {
	switch {
	case value == "":
		f.Refuse(field, "is empty; set a name")
	case len(value) > limit:
		f.Refuse(field, "has %d bytes; at most %d are allowed", len(value), limit)
	default:
		f.Text(field, value)
	}
}

// Addressed is Name for what has an address of its own: no path leads to "." and "..", which
// browsers and servers take for the path itself and the one above.
func (f *Fields[F]) Addressed(field, value string, limit int) {
	if value == "." || value == ".." {
		f.Refuse(field, "is %q, which cannot be part of a URL; choose another name", value)
		return
	}
	f.Name(field, value, limit)
}

// Text refuses what not every database can keep byte for byte.
func (f *Fields[F]) Text(field, value string) {
	if !utf8.ValidString(value) {
		f.Refuse(field, "is not valid UTF-8")
	} else if strings.ContainsRune(value, 0) {
		f.Refuse(field, "contains a NUL character")
	}
}

// Count takes a number of things, or zero for no bound.
func (f *Fields[F]) Count(field string, n, most int) {
	if n < 0 || n > most {
		f.Refuse(field, "is %d; it must be between 1 and %d, or zero for none", n, most)
	}
}

// Rate takes a rate, or zero for none. It also fills in the burst.
func (f *Fields[F]) Rate(rate, mostRate float64, burst *int, mostBurst int) {
	switch {
	case math.IsNaN(rate) || rate < 0 || rate > mostRate:
		f.Refuse("rate", "is %v; it must be between 0 (no limit) and %v starts per second", rate, mostRate)
	case *burst < 0 || *burst > mostBurst:
		f.Refuse("burst", "is %d; it must be between 1 and %d, or zero to allow a tenth of a second's starts", *burst, mostBurst)
	case rate == 0 && *burst > 0:
		f.Refuse("burst", "requires a rate; set a rate or omit the burst")
	case rate > 0 && *burst == 0:
		*burst = max(1, int(rate/10))
	}
}

// URL takes an absolute http or https address, or none.
func (f *Fields[F]) URL(field, value string) {
	if value == "" {
		return
	}
	if len(value) > MaxURL {
		f.Refuse(field, "has %d bytes; at most %d are allowed", len(value), MaxURL)
		return
	}
	parsed, err := url.Parse(value)
	switch {
	case !utf8.ValidString(value):
		f.Refuse(field, "is not valid UTF-8")
	case err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https":
		f.Refuse(field, "is not a URL; it must begin with http:// or https://")
	case parsed.User != nil:
		f.Refuse(field, "contains a user name or password, which would be visible to others; remove them")
	}
}

// OneOf takes one of some words, or none.
func (f *Fields[F]) OneOf(field, value string, allowed ...string) {
	if value == "" {
		return
	}
	for _, a := range allowed {
		if value == a {
			return
		}
	}
	f.Refuse(field, "is %q; it must be one of %s", value, strings.Join(allowed, ", "))
}

// JSON takes a document, or none.
func (f *Fields[F]) JSON(field string, raw json.RawMessage, limit int) {
	switch {
	case len(raw) == 0:
	case len(raw) > limit:
		f.Refuse(field, "has %d bytes; at most %d are allowed: store the data elsewhere and pass a reference", len(raw), limit)
	case !utf8.Valid(raw):
		f.Refuse(field, "is not valid UTF-8")
	case !json.Valid(raw):
		f.Refuse(field, "is not valid JSON")
	}
}
