// Package check collects the invalid fields of an input, so that one error names all of
// them. It handles plain values only: its callers convert the results to errors.
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

// Limits shared by several types of input.
const (
	MaxURL   = 2000                 // maximum length of a URL in bytes
	MaxPause = 366 * 24 * time.Hour // maximum length of a delay
)

// Field is the callers' type for an invalid field, with a message that suggests a fix.
type Field interface {
	~struct {
		Field   string `json:"field"`
		Message string `json:"message"`
	}
}

// Fields collects invalid fields.
type Fields[F Field] struct {
	Found []F
}

// Refuse adds an invalid field.
func (f *Fields[F]) Refuse(field, format string, args ...any) {
	f.Found = append(f.Found, F{Field: field, Message: fmt.Sprintf(format, args...)})
}

// Adopt adds the invalid fields of a part of the input.
func (f *Fields[F]) Adopt(prefix string, part []F) {
	for _, refused := range part {
		plain := struct {
			Field   string `json:"field"`
			Message string `json:"message"`
		}(refused)
		f.Refuse(prefix+plain.Field, "%s", plain.Message)
	}
}

// Name validates a name.
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

// Addressed checks a name like Name, for objects with a URL of their own: it also rejects
// "." and "..", which browsers and servers resolve in paths.
func (f *Fields[F]) Addressed(field, value string, limit int) {
	if value == "." || value == ".." {
		f.Refuse(field, "is %q, which cannot be part of a URL; choose another name", value)
		return
	}
	f.Name(field, value, limit)
}

// Text rejects strings that some databases cannot store byte for byte.
func (f *Fields[F]) Text(field, value string) {
	if !utf8.ValidString(value) {
		f.Refuse(field, "is not valid UTF-8")
	} else if strings.ContainsRune(value, 0) {
		f.Refuse(field, "contains a NUL character")
	}
}

// Count validates a number of things; zero means unlimited.
func (f *Fields[F]) Count(field string, n, most int) {
	if n < 0 || n > most {
		f.Refuse(field, "is %d; it must be between 1 and %d, or zero for none", n, most)
	}
}

// Rate validates a rate; zero means unlimited. It also fills in the burst.
func (f *Fields[F]) Rate(rate, mostRate float64, burst *int, mostBurst int) {
	switch {
	case math.IsNaN(rate) || rate < 0 || rate > mostRate:
		f.Refuse("rate", "is %v; it must be between 0 (no limit) and %v starts per second", rate, mostRate)
	case *burst < 0 || *burst > mostBurst:
		f.Refuse("burst", "is %d; it must be between 1 and %d, or zero for a tenth of the rate", *burst, mostBurst)
	case rate == 0 && *burst > 0:
		f.Refuse("burst", "requires a rate; set a rate or omit the burst")
	case rate > 0 && *burst == 0:
		*burst = max(1, int(rate/10))
	}
}

// URL validates an absolute http or https URL, which may be empty.
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

// OneOf validates a value from a list, which may be empty.
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

// JSON validates a document, which may be empty.
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
