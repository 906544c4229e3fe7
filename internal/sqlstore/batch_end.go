package sqlstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/fairlead-io/fairlead"
)

// ScanEnd reads id, outcome, failures, crashes, reason, finished_at and memo of a job
// that has ended.
func ScanEnd(row Scanner) (end fairlead.TaskEnd, err error) {
	var outcome int
	var finished int64
	var memo []byte
	if err := row.Scan(&end.ID, &outcome, &end.Attempt, &end.Failures, &end.Crashes, &end.Reason, &finished, &memo); err != nil {
		return end, err
	}
	end.State, end.FinishedAt = StateOf(outcome), Time(finished)
	if len(memo) > 0 {
		end.Memo = memo
	}
	return end, nil
}

// PartTaken is the ErrConflict of a part that is stored already.
func PartTaken(batch int64, number int) error {
	return fmt.Errorf("batch %d has a part %d already: %w", batch, number, fairlead.ErrConflict)
}

// VerifyBatches counts the tasks of each open batch anew, corrects what differs and
// reports it.
func VerifyBatches(ctx context.Context, store fairlead.Conductor) ([]fairlead.Drift, error) {
	var drift []fairlead.Drift
	filter := fairlead.BatchFilter{Open: true}
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

func verifyBatch(ctx context.Context, store fairlead.Conductor, id int64) (drift []fairlead.Drift, err error) {
	_, err = store.Conduct(ctx, id, true, func(ctx context.Context, batch *fairlead.Batch, tx fairlead.BatchTx) error {
		parts, err := tx.Parts(ctx, fairlead.PartFilter{})
		if err == nil {
			drift = batch.Mend(parts)
		}
		return err
	})
	if errors.Is(err, fairlead.ErrNotFound) { // it was removed meanwhile
		return nil, nil
	}
	return drift, err
}
