package sqlstore

import (
	"context"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/verdict"
)

// operatorStore implements operations on one job.
type operatorStore struct {
	driver.Operations // names of version 0.1.0
	of                operating
}

// operating is the part of a store that operatorStore uses.
type operating interface {
	// Operate applies an operation to one job, in whatever place it is, in a transaction of
	// its own. It returns ErrNotFound if the job does not exist, and ErrConflict if its state
	// forbids the operation.
	Operate(ctx context.Context, id int64, op *verdict.Operation) error
}

func newOperatorStore(of operating) operatorStore {
	s := operatorStore{of: of}
	s.Operations = driver.Operations{On: &s}
	return s
}

// Operate applies an operation to a job.
func (s *operatorStore) Operate(ctx context.Context, id int64, asked fairlead.Operation) error {
	op, err := verdict.OperationOn(id, asked)
	if err != nil {
		return err
	}
	op.Reason = CleanText(op.Reason)
	return s.of.Operate(ctx, id, op)
}
