package server

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/fairlead-io/fairlead"
)

func TestArgsOfKnownKindsAreCheckedByTheirPlace(t *testing.T) {
	checks := ArgsChecks{"picky": func(args json.RawMessage) error {
		if string(args) == `1` {
			return nil
		}
		return &fairlead.InvalidError{Fields: []fairlead.FieldError{{Field: "args.x", Message: "is wrong"}}}
	}}
	jobs := []*fairlead.Job{{Kind: "picky", Args: json.RawMessage(`1`)}, {Kind: "any", Args: json.RawMessage(`2`)}, {Kind: "picky", Args: json.RawMessage(`2`)}}
	var invalid *fairlead.InvalidError
	if err := checks.check(jobs); !errors.As(err, &invalid) || len(invalid.Fields) != 1 || invalid.Fields[0].Field != "jobs[2].args.x" {
		t.Errorf("got %v", err)
	}
	if err := checks.check(jobs[:2]); err != nil {
		t.Errorf("got %v", err)
	}
	if err := ArgsChecks(nil).check(jobs); err != nil {
		t.Errorf("without checks: %v", err)
	}
}
