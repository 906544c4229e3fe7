package sqlstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
)

// VerifyBatches recounts the tasks of each open batch, corrects wrong counts and returns them.
func VerifyBatches(ctx context.Context, store batch.Store) ([]driver.Drift, error) {
	var drift []driver.Drift
	filter := batch.Filter{Open: true}
	for {
		batches, err := store.Batches(ctx, filter)
		if err != nil || len(batches) == 0 {
			return drift, err
		}
		for i := range batches {
			found, err := verifyBatch(ctx, store, batches[i].ID)
			if err != nil {
				return drift, err
			}
			drift = append(drift, found...)
		}
		filter.Below = batches[len(batches)-1].ID
	}
}

func verifyBatch(ctx context.Context, store batch.Store, id int64) (drift []driver.Drift, err error) {
	_, err = store.Conduct(ctx, id, true, func(ctx context.Context, b *batch.Record, tx batch.Tx) error {
		chunks, err := tx.Chunks(ctx, batch.ChunkFilter{})
		drift = nil // may be repeated
		if err == nil {
			for _, wrong := range b.Mend(chunks) {
				drift = append(drift, driver.Drift{Scope: driver.DriftBatch, Name: fmt.Sprintf("%d %s", id, wrong.What), Counted: wrong.Counted, Found: wrong.Found})
			}
		}
		return err
	})
	if errors.Is(err, fairlead.ErrNotFound) { // removed meanwhile
		return nil, nil
	}
	return drift, err
}
