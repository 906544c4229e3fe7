package httpcall

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead"
)

// compiler reads a call and collects what is wrong with it.
type compiler struct {
	call   Call
	more   map[string]any // vars besides those of the call
	plan   *plan
	sample *values
	places int // placeholders and references so far
	fields []fairlead.FieldError
}

func (c *compiler) refuse(field, format string, args ...any) {
	c.fields = append(c.fields, fairlead.FieldError{Field: "args." + field, Message: fmt.Sprintf(format, args...)})
}

// compile makes a plan of args.
func compile(args json.RawMessage) (*plan, error) {
	call, err := decodeCall(args)
	if err != nil {
		return nil, err
	}
	return compileCall(call, nil)
}

// compileCall makes a plan of a call whose placeholders may stand for more than it
// says itself.
func compileCall(call Call, more map[string]any) (*plan, error) {
	c := &compiler{call: call, more: more, plan: &plan{async: call.Async}}
	c.readMethod()
	c.readVars()
	c.readURL()
	c.readHeaders()
	c.readBody()
	c.readTimes()
	c.readCallbackMethod()
	c.readSuccess()
	c.readSecrets()
	if len(c.fields) > 0 {
		return nil, &fairlead.InvalidError{Fields: c.fields}
	}
	return c.plan, nil
}

func (c *compiler) readMethod() {
	c.plan.method = strings.ToUpper(c.call.Method)
	switch {
	case c.plan.method == "":
		c.plan.method = http.MethodPost
	case c.plan.method == http.MethodConnect, c.plan.method == http.MethodTrace:
		c.refuse("method", "is %s, which is not allowed; use another method", c.plan.method)
	case !isToken(c.plan.method):
		c.refuse("method", "is not an HTTP method; use one such as POST")
	}
}

func (c *compiler) readVars() {
	if len(c.call.Vars) > 0 {
		decoder := json.NewDecoder(bytes.NewReader(c.call.Vars))
		decoder.UseNumber() // a number is sent as it was written
		if err := decoder.Decode(&c.plan.vars); err != nil {
			c.refuse("vars", "is not an object; give one with a field for each {{args.NAME}}")
		}
	}
	sample := c.plan.vars
	if len(c.more) > 0 {
		sample = maps.Clone(c.more)
		maps.Copy(sample, c.plan.vars)
	}
	c.sample = sampleValues(sample)
}

// readTemplate reads a text and tries to fill it in.
func (c *compiler) readTemplate(field, text string, d dialect, limit int) template {
	t, err := parseTemplate(text)
	if err == nil {
		err = c.count(t)
	}
	if err == nil {
		_, err = t.render(d, c.sample, limit)
	}
	if err != nil {
		c.refuse(field, "%v", err)
		return nil
	}
	c.checkCallback(field, t)
	return t
}

// count refuses a call with too many placeholders and references in all.
func (c *compiler) count(t template) error {
	for _, p := range t {
		if p.sort != literal {
			c.places++
		}
	}
	if c.places > maxPlaces {
		return errTooManyPlaces
	}
	return nil
}

// checkCallback refuses placeholders that stand for nothing.
func (c *compiler) checkCallback(field string, t template) {
	for _, name := range t.names(placeholder) {
		if strings.HasPrefix(name, "callback_") && !c.call.Async {
			c.refuse(field, "contains {{%s}}, but the job does not wait for a callback; set async", name)
			return
		}
	}
}

func (c *compiler) readURL() {
	if len(c.call.URL) > maxURL {
		c.refuse("url", "has %d bytes; at most %d are allowed", len(c.call.URL), maxURL)
		return
	}
	var err error
	if c.plan.url, err = parseTarget(c.call.URL); err == nil {
		err = c.count(c.plan.url.rest)
	}
	if err == nil {
		_, err = c.plan.url.render(c.sample)
	}
	if err != nil {
		c.refuse("url", "%v", err)
		return
	}
	c.checkCallback("url", c.plan.url.rest)
}

func (c *compiler) readHeaders() {
	if len(c.call.Headers) > maxHeaders {
		c.refuse("headers", "has %d entries; at most %d are allowed", len(c.call.Headers), maxHeaders)
		return
	}
	c.plan.contentType = "application/json"
	for name, text := range c.call.Headers {
		field, canonical := "headers."+name, http.CanonicalHeaderKey(name)
		switch {
		case len(c.fields) > maxRefused:
			return // each may have cost as much as all vars are long
		case !isToken(name):
			c.refuse("headers", "contains %q, which is not a valid header name", name)
			continue
		case !fitsHeader(text):
			c.refuse(field, "contains a line break or another control character; remove it")
			continue
		}
		if isOwn(name) {
			c.plan.claimed = append(c.plan.claimed, field)
			continue
		}
		value := c.readTemplate(field, text, headerDialect{}, maxHeader)
		if canonical == "Content-Type" {
			c.plan.contentType = text
			if !value.plain() {
				c.refuse(field, "must not contain a placeholder or a reference: it determines how those in the body are encoded")
			}
		}
		if !connectionHeaders[canonical] {
			c.plan.headers = append(c.plan.headers, header{canonical, value})
		}
	}
	slices.Sort(c.plan.claimed)
	slices.SortFunc(c.plan.headers, func(a, b header) int { return strings.Compare(a.name, b.name) })
}

func (c *compiler) readBody() {
	if len(c.call.Body) == 0 || string(c.call.Body) == "null" {
		return
	}
	c.plan.body = c.readTemplate("body", bodyText(c.call.Body), bodyDialect(c.plan.contentType), maxBody)
	if c.plan.body == nil {
		c.plan.body = template{}
	}
}

// bodyText is what is sent of a body: the text of a string, anything else as it
// is.
func bodyText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

func (c *compiler) readTimes() {
	c.plan.timeout = c.seconds("timeout_seconds", c.call.TimeoutSeconds, maxTimeout)
	c.plan.callbackTimeout = c.seconds("callback_timeout_seconds", c.call.CallbackTimeoutSeconds, maxCallbackTimeout)
	switch {
	case c.call.CallbackTimeoutSeconds != 0 && !c.call.Async:
		c.refuse("callback_timeout_seconds", "is set, but the job does not wait for a callback; set async or omit it")
	case c.plan.callbackTimeout == 0:
		c.plan.callbackTimeout = defaultCallbackTimeout
	}
}

// readCallbackMethod reads by which method the target is asked to answer. Both are taken.
func (c *compiler) readCallbackMethod() {
	c.plan.callbackMethod = strings.ToUpper(c.call.CallbackMethod)
	switch {
	case c.call.CallbackMethod != "" && !c.call.Async:
		c.refuse("callback_method", "is set, but the job does not wait for a callback; set async or omit it")
	case c.plan.callbackMethod == "":
		c.plan.callbackMethod = http.MethodPost
	case c.plan.callbackMethod != http.MethodPost && c.plan.callbackMethod != http.MethodPut:
		c.refuse("callback_method", "is %q; it must be POST or PUT", c.call.CallbackMethod)
	}
}

func (c *compiler) seconds(field string, n float64, longest time.Duration) time.Duration {
	if n < 0 || n > longest.Seconds() || n != 0 && n < 0.001 {
		c.refuse(field, "is %v; it must be between 0.001 and %v", n, longest.Seconds())
		return 0
	}
	return time.Duration(n * float64(time.Second))
}

func (c *compiler) readSuccess() {
	var err error
	if c.plan.success, err = newCondition(c.call.Success); err != nil {
		var wrong *conditionError
		if errors.As(err, &wrong) {
			c.refuse("success."+wrong.field, "%v", wrong.err)
		}
	}
}

// readSecrets reads what must be references: these secrets are never in the args.
func (c *compiler) readSecrets() {
	if text := c.call.SigningSecret; text != "" {
		c.plan.signingSecret = c.referred("signing_secret", text)
	}
	c.plan.tls = c.call.TLS
	if c.call.TLS == nil {
		return
	}
	if text := c.call.TLS.CA; text != "" {
		if _, refers := soleReference(text); !refers && poolOf(text) == nil {
			c.refuse("tls.ca", "contains no certificate; give PEM or a reference such as ${file:/etc/ca.pem}")
		}
	}
	if (c.call.TLS.ClientCertificate == "") != (c.call.TLS.ClientKey == "") {
		c.refuse("tls", "has only one of client_certificate and client_key; set both or neither")
		return
	}
	if c.call.TLS.ClientKey != "" {
		c.referred("tls.client_certificate", c.call.TLS.ClientCertificate)
		c.referred("tls.client_key", c.call.TLS.ClientKey)
	}
}

func (c *compiler) referred(field, text string) string {
	name, ok := soleReference(text)
	if !ok {
		c.refuse(field, "is not a reference; give exactly one, such as ${env:NAME} or ${file:PATH}")
	}
	return name
}
