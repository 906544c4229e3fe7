package bench

import (
	"context"
	"fmt"
)

// longTx measures like drain (if a number of jobs is given) or sustained, next to a
// transaction that was opened before and stays open: the database must retain every row
// version that the transaction could still see. A scheduler that must skip these versions
// slows down, which is visible in the rates of the first and the last third.
func (b Bench) longTx(ctx context.Context) (Result, error) {
	release, err := b.Server.HoldSnapshot(ctx)
	if err != nil {
		return Result{}, fmt.Errorf("hold a snapshot: %w", err)
	}
	work := b.sustained
	if b.Spec.Jobs > 0 {
		work = b.drain
	}
	result, err := work(ctx)
	return result, firstError(err, release())
}
