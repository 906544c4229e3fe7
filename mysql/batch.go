package mysql

import (
	"context"
	"errors"

	"github.com/fairlead-io/fairlead"
)

var errNoBatches = errors.New("batches: placeholder")

// CreateBatch is a placeholder.
func (s *Store) CreateBatch(context.Context, fairlead.Batch) (fairlead.Batch, error) {
	return fairlead.Batch{}, errNoBatches
}

// AddParts is a placeholder.
func (s *Store) AddParts(context.Context, int64, []fairlead.Part) error { return errNoBatches }

// DropParts is a placeholder.
func (s *Store) DropParts(context.Context, int64, int) error { return errNoBatches }

// Conduct is a placeholder.
func (s *Store) Conduct(context.Context, int64, bool, func(context.Context, *fairlead.Batch, fairlead.BatchTx) error) (bool, error) {
	return false, errNoBatches
}

// Batches is a placeholder.
func (s *Store) Batches(context.Context, fairlead.BatchFilter) ([]fairlead.Batch, error) {
	return nil, nil
}

// Parts is a placeholder.
func (s *Store) Parts(context.Context, int64, fairlead.PartFilter) ([]fairlead.Part, error) {
	return nil, errNoBatches
}
