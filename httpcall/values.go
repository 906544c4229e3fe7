package httpcall

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/mask"
)

// values are what placeholders and references of a call stand for.
type values struct {
	job                        *fairlead.Job
	origin                     Origin
	callbackURL, callbackToken string
	vars                       map[string]any
	secrets                    func(name string) (string, error)
}

// valuesOf are the values of a job's call.
func valuesOf(job *fairlead.Job, origin Origin, callbackURL, callbackToken string, vars map[string]any, secrets func(string) (string, error)) *values {
	return &values{job: job, origin: origin, callbackURL: callbackURL, callbackToken: callbackToken, vars: vars, secrets: secrets}
}

// named is what a placeholder stands for that is no variable. Most calls have few.
func (v *values) named(name string) any {
	switch name {
	case "run_id":
		return strconv.FormatInt(v.job.ID, 10)
	case "due_time":
		return v.due().UTC().Format("2006-01-02T15:04:05.000000Z")
	case "attempt":
		return json.Number(strconv.Itoa(v.job.Attempt))
	case "fence":
		return strconv.FormatInt(v.job.Fence, 10)
	case "schedule":
		return v.origin.Schedule
	case "tenant":
		return v.job.Tenant
	case "key":
		return v.job.Key
	case "callback_url":
		return v.callbackURL
	case "callback_token":
		return v.callbackToken
	case "braces":
		return "{{"
	}
	return nil // a template has no other names
}

// due is the instant that the call is for.
func (v *values) due() time.Time {
	switch {
	case !v.origin.Due.IsZero():
		return v.origin.Due
	case !v.job.NotBefore.IsZero():
		return v.job.NotBefore
	}
	return v.job.CreatedAt
}

// sampleValues are good enough to see whether a call can be filled in.
func sampleValues(vars map[string]any) *values {
	job := &fairlead.Job{ID: 1, Tenant: "sample", Key: "sample", NotBefore: time.Unix(0, 0)}
	return valuesOf(job, Origin{Schedule: "sample"}, "sample", "sample", vars, func(string) (string, error) { return "sample", nil })
}

// anything is a sample of which it is not known what it consists of.
type anything string

// fill is what a part stands for.
func (v *values) fill(p part) (any, error) {
	if p.sort == secretReference {
		return v.secrets(p.text)
	}
	path, isVariable := strings.CutPrefix(p.text, "args.")
	if !isVariable {
		return v.named(p.text), nil
	}
	var value any = v.vars
	for name := range strings.SplitSeq(path, ".") {
		found := false
		switch within := value.(type) {
		case map[string]any:
			value, found = within[name]
		case anything:
			found = true
		case []any:
			if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(within) {
				value, found = within[i], true
			}
		}
		if !found {
			return nil, fmt.Errorf("contains {{%s}}, but vars has no %s; add it to vars", p.text, path)
		}
	}
	return value, nil
}

// masked are values with nothing secret among them.
type masked struct{ *values }

func (m masked) fill(p part) (any, error) {
	if p.sort == secretReference || p.text == "callback_token" {
		return mask.Masked, nil
	}
	return m.values.fill(p)
}
