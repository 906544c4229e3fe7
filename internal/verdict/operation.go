package verdict

import (
	"fmt"
	"maps"
	"slices"

	"github.com/fairlead-io/fairlead"
)

// Operation is an operation on one or more jobs.
type Operation struct {
	fairlead.Operation
	Among  []fairlead.State // states of the jobs to which it applies; empty = all states that permit it
	Fences map[int64]int64  // by job: fence of the run that the caller has seen; a job not in the map may have any
}

// OperationOn returns the operation that a caller asks for on a job. It returns ErrInvalid if
// there is no such operation.
func OperationOn(id int64, asked fairlead.Operation) (*Operation, error) {
	if permitted[asked.Op] == nil {
		known := slices.Sorted(maps.Keys(permitted))
		return nil, fairlead.Invalid(fairlead.FieldError{Field: "op", Message: fmt.Sprintf("is %q; it must be one of %q", asked.Op, known)})
	}
	op := &Operation{Operation: asked}
	if seen := asked.Seen; seen != nil {
		op.Among, op.Fences = []fairlead.State{seen.State}, map[int64]int64{id: seen.Fence}
	}
	return op, nil
}

// Permit returns ErrConflict if a job's state forbids the operation, or if the operation does
// not apply to jobs in that state.
func (o *Operation) Permit(id int64, state fairlead.State) error {
	if err := Permit(o.Op, id, state); err != nil {
		return err
	}
	if len(o.Among) > 0 && !slices.Contains(o.Among, state) {
		return illegal(o.Op, id, state)
	}
	return nil
}

// PermitSeen works like Permit and also compares fence, the fence of the job's last run, with
// the fence that the caller has seen. It returns ErrConflict if the job has run again since
// then, because what the caller knows about the earlier run may not apply to the new run.
func (o *Operation) PermitSeen(id int64, state fairlead.State, fence int64) error {
	if err := o.Permit(id, state); err != nil {
		return err
	}
	if seen, named := o.Fences[id]; named && seen != fence {
		return fmt.Errorf("cannot %s job %d: it has run again since it was found: %w", o.Op, id, fairlead.ErrConflict)
	}
	return nil
}
