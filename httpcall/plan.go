package httpcall

import (
	"encoding/json"
	"time"

	"github.com/fairlead-io/fairlead"
)

// Bounds of a call.
const (
	maxURL             = 16 << 10 // bytes, filled in
	maxHeader          = 16 << 10 // bytes of a header's value, filled in
	maxHeaders         = 100
	maxPlaces          = 2000    // placeholders and references, in all of a call
	maxStatuses        = 100     // that count as a success
	maxRefused         = 20      // fields that are looked at after others were refused
	maxBody            = 4 << 20 // bytes, filled in
	maxTimeout         = 24 * time.Hour
	maxCallbackTimeout = 366 * 24 * time.Hour
)

// defaultCallbackTimeout is how long a job waits for its callback.
const defaultCallbackTimeout = time.Hour

// plan is a call that can be made: all of it was read and checked.
type plan struct {
	method          string
	url             target
	headers         []header
	claimed         []string // fields of headers that only Fairlead sets; they are left out
	contentType     string
	body            template // nil: none
	vars            map[string]any
	timeout         time.Duration // zero: not set
	success         *condition
	async           bool
	callbackTimeout time.Duration
	callbackMethod  string
	signingSecret   string // name of the secret; empty: not signed
	tls             *TLS
}

// header is one of the caller's own.
type header struct {
	name  string
	value template
}

// Validate validates the arguments of a job of kind "http". It returns an
// *fairlead.InvalidError that names every invalid field.
func Validate(args json.RawMessage) error {
	p, err := compile(args)
	if err != nil {
		return err
	}
	return p.checkClaimed()
}

// checkClaimed refuses headers that only Fairlead sets. Calls that were stored before
// that was refused are made without them.
func (p *plan) checkClaimed() error {
	if len(p.claimed) == 0 {
		return nil
	}
	invalid := &fairlead.InvalidError{}
	for _, field := range p.claimed {
		invalid.Fields = append(invalid.Fields, fairlead.FieldError{Field: "args." + field, Message: "is a header that only Fairlead sets; omit it"})
	}
	return invalid
}

// secretsUsed lists all secrets that a plan refers to, with the fields that do.
func (p *plan) secretsUsed() []usedSecret {
	var used []usedSecret
	add := func(field string, names ...string) {
		for _, name := range names {
			used = append(used, usedSecret{field, name})
		}
	}
	add("url", p.url.rest.names(secretReference)...)
	for _, h := range p.headers {
		add("headers."+h.name, h.value.names(secretReference)...)
	}
	add("body", p.body.names(secretReference)...)
	if p.signingSecret != "" {
		add("signing_secret", p.signingSecret)
	}
	if p.tls != nil {
		for field, text := range map[string]string{"tls.ca": p.tls.CA, "tls.client_certificate": p.tls.ClientCertificate, "tls.client_key": p.tls.ClientKey} {
			if name, refers := soleReference(text); refers {
				add(field, name)
			}
		}
	}
	return used
}

type usedSecret struct{ field, name string }
