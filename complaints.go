package fairlead

import (
	"fmt"
	"math"
	"net/url"
	"unicode/utf8"
)

// complaints collects the fields that are refused.
type complaints struct {
	fields []FieldError
}

func (c *complaints) refuse(field, format string, args ...any) {
	c.fields = append(c.fields, FieldError{Field: field, Message: fmt.Sprintf(format, args...)})
}

// maxComplaints bounds how many fields an error names: who sends ten thousand jobs with
// the same mistake is helped by the first of them.
const maxComplaints = 100

func (c *complaints) err() error {
	if len(c.fields) == 0 {
		return nil
	}
	return &InvalidError{Fields: c.fields[:min(len(c.fields), maxComplaints)]}
}

func (c *complaints) checkName(field, value string, limit int) {
	switch {
	case value == "":
		c.refuse(field, "is empty; give it a name")
	case len(value) > limit:
		c.refuse(field, "has %d bytes; at most %d are kept", len(value), limit)
	default:
		checkText(c.refuse, field, value)
	}
}

func (c *complaints) checkCount(field string, n int) {
	if n < 0 || n > MaxCap {
		c.refuse(field, "is %d; it must be between 1 and %d, or zero for none", n, MaxCap)
	}
}

// checkRate also fills in the burst.
func (c *complaints) checkRate(rate float64, burst *int) {
	switch {
	case math.IsNaN(rate) || rate < 0 || rate > MaxRate:
		c.refuse("rate", "is %v; it must be between 0 (no limit) and %v starts per second", rate, MaxRate)
	case *burst < 0 || *burst > MaxCap:
		c.refuse("burst", "is %d; it must be between 1 and %d, or zero for a tenth of a second's starts", *burst, MaxCap)
	case rate == 0 && *burst > 0:
		c.refuse("burst", "is given without a rate; set the rate or leave it out")
	case rate > 0 && *burst == 0:
		*burst = max(1, int(rate/10))
	}
}

// checkURL takes an absolute http or https address, or none.
func (c *complaints) checkURL(field, value string) {
	if value == "" {
		return
	}
	if len(value) > maxURL {
		c.refuse(field, "has %d bytes; at most %d are kept", len(value), maxURL)
		return
	}
	parsed, err := url.Parse(value)
	switch {
	case !utf8.ValidString(value):
		c.refuse(field, "is not valid UTF-8")
	case err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https":
		c.refuse(field, "is no address; give one that begins with http:// or https://")
	case parsed.User != nil:
		c.refuse(field, "has a user or password in it, which would be shown; leave that out")
	}
}
