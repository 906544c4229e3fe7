package server

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/fairlead-io/fairlead"
)

// ArgsChecks contains validation functions for kinds with known args. A function returns an
// *fairlead.InvalidError whose fields begin with args if the args can never be accepted.
// The caller who enqueues such a job gets the error immediately instead of from a failed
// run.
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
