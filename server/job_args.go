package server

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/fairlead-io/fairlead"
)

// ArgsChecks maps kinds whose args are known to functions that validate these args. If the
// args can never be accepted, the function returns a *fairlead.InvalidError whose field
// names begin with args. The caller who enqueues the job then gets the error immediately,
// rather than from a failed run.
type ArgsChecks map[string]func(args json.RawMessage) error

// check rejects jobs with args that can never be accepted.
func (c ArgsChecks) check(jobs []*fairlead.Job) error {
	refused := &fairlead.InvalidError{}
	for i, job := range jobs {
		check := c[job.Kind]
		if check == nil {
			continue
		}
		err := check(job.Args)
		var invalid *fairlead.InvalidError
		if err != nil && !errors.As(err, &invalid) {
			return err
		}
		if invalid == nil {
			continue
		}
		for _, f := range invalid.Fields {
			refused.Fields = append(refused.Fields, fairlead.FieldError{Field: fmt.Sprintf("jobs[%d].%s", i, f.Field), Message: f.Message})
		}
	}
	if len(refused.Fields) > 0 {
		return refused
	}
	return nil
}
