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

// Field constrains the type that a caller uses to report an invalid field. The message should
// suggest a fix.
type Field interface {
	~struct {
		Field   string `json:"field"`
		Message string `json:"message"`
	}
}

// Fields collects the invalid fields found during validation.
type Fields[F Field] struct {
	Found []F
}

// Refuse records field as invalid, with a formatted message.
func (f *Fields[F]) Refuse(field, format string, args ...any) {
	f.Found = append(f.Found, F{Field: field, Message: fmt.Sprintf(format, args...)})
}

// Adopt records the invalid fields of a nested part of the input. It adds prefix to their
// names.
func (f *Fields[F]) Adopt(prefix string, part []F) {
	for _, refused := range part {
		plain := struct {
			Field   string `json:"field"`
			Message string `json:"message"`
		}(refused)
		f.Refuse(prefix+plain.Field, "%s", plain.Message)
	}
}

// Name rejects value unless it is a valid name of at most limit bytes.
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

// Addressed works like Name, for objects that have their own URL. It also rejects "." and
// "..", because browsers and servers resolve them in paths.
func (f *Fields[F]) Addressed(field, value string, limit int) {
	if value == "." || value == ".." {
		f.Refuse(field, "is %q, which cannot be part of a URL; choose another name", value)
		return
	}
	f.Name(field, value, limit)
}

// Text rejects strings that some databases cannot store byte for byte: invalid UTF-8 and
// strings with NUL characters.
func (f *Fields[F]) Text(field, value string) {
	if !utf8.ValidString(value) {
		f.Refuse(field, "is not valid UTF-8")
	} else if strings.ContainsRune(value, 0) {
		f.Refuse(field, "contains a NUL character")
	}
}

// Count rejects n if it is negative or exceeds most. Zero means unlimited.
func (f *Fields[F]) Count(field string, n, most int) {
	if n < 0 || n > most {
		f.Refuse(field, "is %d; it must be between 1 and %d, or zero for none", n, most)
	}
}

// Rate validates a rate and its burst. A rate of zero means unlimited. If a rate is set
// without a burst, Rate fills in the default burst.
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

// URL rejects value unless it is empty or an absolute http or https URL.
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

// OneOf rejects value unless it is empty or one of the allowed values.
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

// JSON rejects raw unless it is empty or a valid JSON document of at most limit bytes.
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
