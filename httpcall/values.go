package httpcall

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead"
)

// values are what placeholders and references of a call stand for.
type values struct {
	named   map[string]any
	vars    map[string]any
	secrets func(name string) (string, error)
}

// valuesOf are the values of a job's call.
func valuesOf(job *fairlead.Job, origin Origin, callbackURL, callbackToken string, vars map[string]any, secrets func(string) (string, error)) *values {
	due := origin.Due
	if due.IsZero() {
		due = job.NotBefore
	}
	if due.IsZero() {
		due = job.CreatedAt
	}
	return &values{vars: vars, secrets: secrets, named: map[string]any{
		"run_id":         strconv.FormatInt(job.ID, 10),
		"due_time":       due.UTC().Format("2006-01-02T15:04:05.000000Z"),
		"attempt":        json.Number(strconv.Itoa(job.Attempt)),
		"fence":          strconv.FormatInt(job.Fence, 10),
		"schedule":       origin.Schedule,
		"tenant":         job.Tenant,
		"key":            job.Key,
		"callback_url":   callbackURL,
		"callback_token": callbackToken,
		"braces":         "{{",
	}}
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
		return v.named[p.text], nil
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
			return nil, fmt.Errorf("has {{%s}}, and vars has no %s; add it there", p.text, path)
		}
	}
	return value, nil
}

// masked are values with nothing secret among them.
type masked struct{ *values }

func (m masked) fill(p part) (any, error) {
	if p.sort == secretReference || p.text == "callback_token" {
		return mask, nil
	}
	return m.values.fill(p)
}
