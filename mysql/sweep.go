package mysql

import (
	"context"
	"errors"

	"github.com/fairlead-io/fairlead"
)

var errNoSweeps = errors.New("sweeps: placeholder")

// PutSweep is a placeholder.
func (s *Store) PutSweep(context.Context, fairlead.Sweep) (fairlead.Sweep, error) {
	return fairlead.Sweep{}, errNoSweeps
}

// DeleteSweep is a placeholder.
func (s *Store) DeleteSweep(context.Context, int64) error { return errNoSweeps }

// Sweeps is a placeholder.
func (s *Store) Sweeps(context.Context, fairlead.SweepFilter) ([]fairlead.Sweep, error) {
	return nil, nil
}

// Shards is a placeholder.
func (s *Store) Shards(context.Context, int64) ([]fairlead.Shard, error) { return nil, errNoSweeps }

// Steer is a placeholder.
func (s *Store) Steer(context.Context, int64, bool, func(context.Context, *fairlead.Sweep, fairlead.SweepTx) error) (bool, error) {
	return false, errNoSweeps
}

// Checkpoint is a placeholder.
func (s *Store) Checkpoint(context.Context, fairlead.Checkpoint) (fairlead.Orders, error) {
	return fairlead.Orders{}, errNoSweeps
}

// AddFailed is a placeholder.
func (s *Store) AddFailed(context.Context, int64, []fairlead.FailedItem) error { return errNoSweeps }

// FailedItems is a placeholder.
func (s *Store) FailedItems(context.Context, fairlead.ItemFilter) ([]fairlead.FailedItem, error) {
	return nil, errNoSweeps
}

// ForgetFailed is a placeholder.
func (s *Store) ForgetFailed(context.Context, int64, []int64) error { return errNoSweeps }

// AddSweepLogs is a placeholder.
func (s *Store) AddSweepLogs(context.Context, []fairlead.SweepLog) error { return errNoSweeps }

// SweepLogs is a placeholder.
func (s *Store) SweepLogs(context.Context, fairlead.LogFilter) ([]fairlead.SweepLog, error) {
	return nil, errNoSweeps
}

// SweepEvents is a placeholder.
func (s *Store) SweepEvents(context.Context, int64, int) ([]fairlead.SweepEvent, error) {
	return nil, errNoSweeps
}
