package console

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// callFields contains the parts of an HTTP call that have form fields. The other parts stay
// as stored, or are edited as a document.
type callFields struct {
	Method, URL string
	Headers     string // one header per line, as "Name: value"
	Body        string
}

// callFieldsOf returns the args of a job as the fields of a call, and false if the fields
// cannot represent them.
func callFieldsOf(job *fairleadv1.NewJob) (fields callFields, is bool) {
	fields = callFields{Method: "POST"}
	if job.GetKind() != httpKind {
		return fields, false
	}
	if len(job.GetArgs()) == 0 {
		return fields, true
	}
	var call struct {
		Method  string            `json:"method"`
		URL     string            `json:"url"`
		Headers map[string]string `json:"headers"`
		Body    json.RawMessage   `json:"body"`
	}
	if json.Unmarshal(hideUserinfo(job.GetArgs()), &call) != nil {
		return fields, false
	}
	if call.Method != "" {
		fields.Method = call.Method
	}
	fields.URL = call.URL
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(call.Headers)) {
		lines = append(lines, name+": "+call.Headers[name])
	}
	fields.Headers, fields.Body = strings.Join(lines, "\n"), string(call.Body)
	var text string
	if json.Unmarshal(call.Body, &text) == nil {
		fields.Body = text
	}
	return fields, true
}

// call reads the fields of a call into args, and leaves other values in args unchanged.
func (f *scheduleFields) call(job *fairleadv1.NewJob) {
	fresh := !f.stored || job.GetKind() != httpKind
	if !fresh && !slices.ContainsFunc([]string{"call_method", "call_url", "call_headers", "call_body"}, f.edited) {
		return
	}
	args := map[string]json.RawMessage{}
	if !fresh && len(job.GetArgs()) > 0 && json.Unmarshal(job.GetArgs(), &args) != nil {
		f.refuse("args", f.v.T("are not an HTTP request; edit them as JSON"))
		return
	}
	before := len(args) > 0
	set := func(name string, read func() any) {
		if before && !f.edited(name) {
			return
		}
		delete(args, strings.TrimPrefix(name, "call_"))
		if value := read(); value != nil {
			args[strings.TrimPrefix(name, "call_")], _ = json.Marshal(value) // encoding strings and documents cannot fail
		}
	}
	set("call_method", func() any { return f.text("call_method") })
	set("call_url", func() any {
		typed, whole := restoreUserinfo([]byte(f.text("call_url")), job.GetArgs())
		if !whole {
			f.refuse("call_url", f.v.T("contains *** instead of the user name and password of another URL; replace it with the actual values"))
		}
		return string(typed)
	})
	set("call_headers", f.headers)
	set("call_body", func() any { return typedBody(f.text("call_body")) })
	job.Kind = httpKind
	job.Args, _ = json.Marshal(args)
}

// headers reads one header per line; it returns nil if there are none.
func (f *scheduleFields) headers() any {
	headers := map[string]string{}
	for line := range strings.Lines(f.text("call_headers")) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		name, value, named := strings.Cut(line, ":")
		if !named {
			f.refuse("call_headers", f.v.T("must contain one \"Name: value\" pair per line, such as Accept: text/plain"))
		}
		headers[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	if len(headers) == 0 {
		return nil
	}
	return headers
}

// typedBody returns a body in the form of args: an object or a list as it is, other input
// as a string, and nil if it is empty.
func typedBody(typed string) any {
	switch {
	case typed == "":
		return nil
	case strings.ContainsAny(typed[:1], "{[") && json.Valid([]byte(typed)):
		return json.RawMessage(typed)
	}
	return typed
}
