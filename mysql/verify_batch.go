package mysql

import (
	"context"
	"errors"

	"github.com/fairlead-io/fairlead"
)

// verifyBatches counts the tasks of open batches anew, each under its lock.
func (s *Store) verifyBatches(ctx context.Context) ([]fairlead.Drift, error) {
	var drift []fairlead.Drift
	filter := fairlead.BatchFilter{Open: true}
	for {
		open, err := s.Batches(ctx, filter)
		if err != nil || len(open) == 0 {
			return drift, err
		}
		for _, batch := range open {
			found, err := s.verifyBatch(ctx, batch.ID)
			if err != nil && !errors.Is(err, fairlead.ErrNotFound) {
				return drift, err
			}
			drift = append(drift, found...)
		}
		filter.Below = open[len(open)-1].ID
	}
}

func (s *Store) verifyBatch(ctx context.Context, id int64) (drift []fairlead.Drift, err error) {
	_, err = s.Conduct(ctx, id, true, func(ctx context.Context, batch *fairlead.Batch, tx fairlead.BatchTx) error {
		parts, err := tx.Parts(ctx, fairlead.PartFilter{})
		if err == nil {
			drift = batch.Mend(parts)
		}
		return err
	})
	return drift, err
}
