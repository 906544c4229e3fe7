package sqlstore

import (
	"encoding/json"
	"fmt"

	"github.com/fairlead-io/fairlead/batch"
)

// mostLosses limits the number of separate losses. If there are more, the two oldest count
// as one.
const mostLosses = 64

// ParseLosses parses the losses column of the server table.
func ParseLosses(raw []byte) ([]batch.Loss, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var losses []batch.Loss
	if err := json.Unmarshal(raw, &losses); err != nil {
		return nil, fmt.Errorf("decode recorded data losses: %w", err)
	}
	return losses, nil
}

// AddLoss returns the new value of the losses column after one more loss.
func AddLoss(raw []byte, loss batch.Loss) ([]byte, error) {
	losses, err := ParseLosses(raw)
	if err != nil {
		return nil, err
	}
	losses = append(losses, loss)
	if len(losses) > mostLosses {
		losses[1].Fence = losses[0].Fence
		losses = losses[1:]
	}
	return json.Marshal(losses)
}

// ScanLockedBatch reads a batch from the columns of ScanBatch, followed by the database's
// losses.
func ScanLockedBatch(row Scanner) (b batch.Record, losses []batch.Loss, err error) {
	var raw []byte
	if b, err = ScanBatch(LongerRow(row, &raw)); err == nil {
		losses, err = ParseLosses(raw)
	}
	return b, losses, err
}

// scanLockedBatch reads a locked batch and ignores the losses.
func scanLockedBatch(row Scanner) (batch.Record, error) {
	b, _, err := ScanLockedBatch(row)
	return b, err
}
