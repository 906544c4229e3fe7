package tasks

import (
	"errors"
	"fmt"
	"strings"

	"github.com/fairlead-io/fairlead"
)

// complaints collects the errors of invalid fields.
type complaints struct {
	fields []fairlead.FieldError
}

func (c *complaints) refuse(field, format string, args ...any) {
	c.fields = append(c.fields, fairlead.FieldError{Field: field, Message: fmt.Sprintf(format, args...)})
}

func (c *complaints) err() error {
	if len(c.fields) == 0 {
		return nil
	}
	return &fairlead.InvalidError{Fields: c.fields}
}

// fieldNames maps the fields of a schedule and its call to the field names of tasks.
var fieldNames = []struct{ from, to string }{
	{"cron", "cron_expr"},
	{"catch_up_window", "catch_up_window_sec"},
	{"job.tenant", "tenant"},
	{"job.max_attempts", "retry_policy_json.max_attempts"},
	{"job.retry", "retry_policy_json"},
	{"args.url", "target_url"},
	{"job.args.url", "target_url"},
	{"args.method", "http_method"},
	{"args.headers", "headers_json"},
	{"args.body", "body_template"},
	{"args.timeout_seconds", "timeout_seconds"},
	{"args.callback_timeout_seconds", "callback_timeout_sec"},
	{"args.callback_method", "callback_method"},
}

// renamed returns an error with the field names of tasks.
func renamed(err error) error {
	var invalid *fairlead.InvalidError
	if !errors.As(err, &invalid) {
		return err
	}
	out := &fairlead.InvalidError{}
	for _, f := range invalid.Fields {
		for _, known := range fieldNames {
			if rest, same := strings.CutPrefix(f.Field, known.from); same && (rest == "" || rest[0] == '.') {
				f.Field = known.to + rest
				break
			}
		}
		out.Fields = append(out.Fields, f)
	}
	return out
}
